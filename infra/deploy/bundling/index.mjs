// The file that Lambda loads. An ES module can await the warm-up while it loads; a CommonJS bundle cannot. Lambda looks
// for index.js before index.mjs, so the bundle has another name.
// https://github.com/aws/aws-lambda-nodejs-runtime-interface-client/blob/main/src/UserFunction.js
import { createRequire } from 'node:module';

const { handler, warmUp } = createRequire(import.meta.url)('./function.cjs');
await warmUp();

export { handler };

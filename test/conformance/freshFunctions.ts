import type { LoadHandler } from '../../infra/local/lambda/lambdaFunction.ts';

let stages = 0;

/**
 * The functions of a stage of its own: they read their settings when they are loaded, and many stages
 * share the process, one after the other.
 */
export function defineFreshFunctions(): LoadHandler {
  stages += 1;
  const query = `?stage=${stages}`;
  return (operationId) => {
    const { href } = new URL(`../../functions/${operationId}.ts${query}`, import.meta.url);
    return import(/* @vite-ignore */ href);
  };
}

import { synthesize } from './deploy/buildApp.ts';
import { stages } from './stages/stages.ts';

await synthesize(Object.values(stages));

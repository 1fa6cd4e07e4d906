import { synthesize } from './synthesize.ts';

synthesize();

import { synthesize } from './buildApp.ts';

synthesize();

import { writeFileSync } from 'node:fs';
import { stages } from '../../../infra/stages/stages.ts';
import { page, toPage } from './page.ts';

writeFileSync(page, toPage(stages.production));

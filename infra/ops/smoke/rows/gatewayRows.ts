import { checkHeader } from '../asking/expectation.ts';
import type { Row } from './row.ts';

/** Methods that a path does not have, with those that it has. */
const otherMethods = [
  ['POST', '/inventory', 'GET'],
  ['GET', '/inventory/1', 'PATCH'],
  ['PUT', '/pets/1', 'GET'],
  ['DELETE', '/store/orders', 'GET'],
] as const;

/** What the gateway answers by itself. */
export const gatewayRows: readonly Row[] = [
  ...(['/smoke', '/pets', '/inventory/1/2'].map((path) => ({
    name: `answers 404 to the unknown path ${path}`,
    check: async (stage) => {
      await stage.ask({ path }, 'not_found');
    },
  })) satisfies Row[]),
  ...(otherMethods.map(([method, path, allowed]) => ({
    name: `answers 405 to ${method} ${path}, and says what is allowed`,
    check: async (stage) => {
      const answer = await stage.ask({ method, path }, 'method_not_allowed');
      checkHeader(answer, 'Allow', new RegExp(`^${allowed}(, ?OPTIONS)?$`), allowed);
    },
  })) satisfies Row[]),
];

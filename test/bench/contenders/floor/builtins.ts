import { createHash } from 'node:crypto';
import { request } from 'node:https';

/** What no function that signs a request and sends it can do without. */
export const handler = { createHash, request };

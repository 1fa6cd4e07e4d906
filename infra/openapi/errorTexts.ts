import type { ErrorCode } from '../../shared/contract/errors/errorBody.ts';
import type { HeaderUse } from './headers.ts';

/** What the document says of an error: when it comes, and the headers that it has besides. */
export interface ErrorText {
  readonly description: string;
  readonly headers: HeaderUse;
}

export const errorTexts: Readonly<Record<ErrorCode, ErrorText>> = {
  invalid_request: {
    description: 'the path, the query, a header or the body is wrong; the message says what.',
    headers: {},
  },
  unauthorized: {
    description: 'there is no API key, or it is not valid.',
    headers: { 'WWW-Authenticate': false },
  },
  forbidden: {
    description: 'the API key allows reading alone.',
    headers: { 'WWW-Authenticate': false },
  },
  not_found: { description: 'nothing has this id.', headers: {} },
  method_not_allowed: { description: 'the path does not have this method.', headers: {} },
  precondition_failed: {
    description: 'the entry has changed since its tag was read; nothing was done.',
    headers: { ETag: true },
  },
  payload_too_large: { description: 'the body is too large.', headers: {} },
  unsupported_media_type: { description: 'the body is not said to be JSON.', headers: {} },
  too_many_requests: {
    description: 'there are too many requests at once; nothing was done.',
    headers: { 'Retry-After': true },
  },
  internal_error: { description: 'something went wrong in the service.', headers: {} },
  service_unavailable: {
    description: 'the service is busy; whether an update had an effect is not known.',
    headers: { 'Retry-After': true },
  },
};

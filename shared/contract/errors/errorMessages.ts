/** What a client is told alike whether a function or the gateway refuses it. */
export const errorMessages = {
  invalidKey: 'The API key is not valid.',
  notJson: 'The body must be JSON: send the header "Content-Type: application/json".',
  internalError: 'Something went wrong on our side; the request id tells us what.',
} as const;

/**
 * Takes the place of `@smithy/core/event-streams`, which the SDK would import for an operation that
 * answers with a stream of events. DynamoDB has none.
 */
const unavailable = () => {
  throw new Error('Event streams are left out of the bundles: no DynamoDB operation has one.');
};

export const EventStreamSerde = unavailable;
export const eventStreamSerdeProvider = unavailable;

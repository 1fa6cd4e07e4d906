/**
 * The bodies of answers as the access log has their bytes, of those that are as large as `LARGE_ANSWER`: a custom
 * metric costs $0.30 a month, of which the hours count in which it has a value, and the scheduled check's small
 * answers would give it one in every hour.
 */
export const sentBytes = { name: 'sentBytes', value: '$.bytes' } as const;
export const LARGE_ANSWER = 1_024;

/** What AWS asks for what a request uses, in dollars, in us-east-1. A gigabyte is 2^30 bytes. */
export const unitPrices = {
  gatewayPerMillionRequests: 3.5,
  lambdaPerMillionRequests: 0.2,
  /** Of arm64. */
  lambdaPerGigabyteSecond: 0.0000133334,
  readPerMillionUnits: 0.125,
  writePerMillionUnits: 0.625,
  logsPerGigabyte: 0.5,
  transferPerGigabyte: 0.09,
  tracesPerMillion: 5,
} as const;

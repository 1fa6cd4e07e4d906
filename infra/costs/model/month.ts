/** A month of 730 hours, as AWS reckons. */
export const SECONDS_A_MONTH = 730 * 3600;

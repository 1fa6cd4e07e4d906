/** The major version of the contract: the name of the gateway's stage, and the end of every base address. */
export const apiVersion = 'v1';

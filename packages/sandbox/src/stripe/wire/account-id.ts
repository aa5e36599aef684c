/** Id of the sandbox's single account. */
export const ACCOUNT_ID = 'acct_1TollgateSandbox'

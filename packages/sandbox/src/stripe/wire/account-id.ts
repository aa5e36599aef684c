/** The one account there is. */
export const ACCOUNT_ID = 'acct_1TollgateSandbox'

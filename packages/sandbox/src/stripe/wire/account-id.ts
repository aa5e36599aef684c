/** Id of the sandbox's only Stripe account. */
export const ACCOUNT_ID = 'acct_1TollgateSandbox'

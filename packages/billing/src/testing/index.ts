export { type BillingTest, type StartBillingOptions, startBilling } from './start-billing.ts'

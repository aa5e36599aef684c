export { type Account, type Accounts, openAccounts } from './accounts.ts'
export { createDemoClient } from './demo-client.ts'
export { loginPage, startPage } from './pages.ts'
export { openPayments, type Payments } from './payments.ts'

import type { BillableUser, Billing, Subscription } from '@tollgate/billing'
import type { Database } from '@tollgate/database'
import type {
  AuthenticatedUser,
  AuthorizationServer,
  AuthorizationServerOptions,
  Users,
} from '@tollgate/oauth'
import type { Sandbox } from '@tollgate/sandbox'
import type StripeSdk from 'stripe'

/** Names that the guides assume to be declared. A code block may declare any of them again. */
declare global {
  interface Order {
    readonly id: number
  }
  const oauth: AuthorizationServer<{ readonly id: string; readonly email: string }>
  const billing: Billing
  const database: Database
  const users: Required<Users>
  const options: AuthorizationServerOptions
  const user: BillableUser
  /** `user` in prose: the user of a guard, or of billing. */
  const someone: BillableUser & AuthenticatedUser
  function askForAnotherCard(user: BillableUser): Promise<void>
  const subscription: Subscription
  const sandbox: Sandbox<{ stripe: true; braintree: true }>
  const stripe: StripeSdk
  const id: string
  const ada: { readonly id: string }
  const cardToken: string
  const email: string
  const createBilling: typeof import('@tollgate/billing').createBilling
  const billingOptions: import('@tollgate/billing').BillingOptions
  const transport: { sendMail(mail: object): Promise<void> }
  function welcome(id: unknown, plan: string): Promise<void>
  function closeAccount(id: unknown): Promise<void>
  function handOut(pageId: string): Promise<void>
  function askAgain(id: unknown, pageId: string): Promise<void>
  const order: Order
  const describe: typeof import('vitest').describe
  const it: typeof import('vitest').it
  const expect: typeof import('vitest').expect
  const kid: string
  const secret: string
  const newToken: string
  const chargeId: string
  type WebhookHandlers = import('@tollgate/billing').WebhookHandlers
  const money: typeof import('@tollgate/billing').money
  function ordersOf(userId: string): Order[]
  function openTheGate(): void
  function sendReceipt(invoice: unknown): Promise<void>
  function tellSupport(dispute: unknown): Promise<void>
  const db: { user(id: string): Promise<{ readonly id: string } | null> }
  function checkPassword(email: string, password: string): Promise<{ readonly id: string } | null>
  const sessions: {
    read(cookie: string | null): Promise<{ readonly id: string; readonly userId: string } | null>
  }
  function createMyStorage(): import('@tollgate/oauth').Storage
  const page: import('playwright-core').Page
  const audit: { write(entry: object): Promise<void> }
  const gate: import('@tollgate/gate').Gate<'calls' | 'tokens' | 'seats'>
  const subject: import('@tollgate/gate').Subject
  const job: { readonly id: string; readonly endedAt: Date }
}

import { converge } from '../consistency/converge.ts'
import type { DriftReport } from '../consistency/drift.ts'
import { taxAt } from '../consistency/keep-tax.ts'
import { syncUser } from '../consistency/sync.ts'
import { withUserLock } from '../consistency/user-lock.ts'
import type { BillingContext } from '../context.ts'
import { chooseProvider } from '../customers/choose-provider.ts'
import { ensureCustomer } from '../customers/customer.ts'
import { LoadedUser } from '../customers/loaded-user.ts'
import { InvalidArgument, InvoiceNotFound, NoCustomer, NoSubscription } from '../errors.ts'
import type { CustomerDetails } from '../gateways/contract/customer.ts'
import type { Gateway } from '../gateways/contract/gateway.ts'
import type {
  ChargeOptions,
  InvoiceForOptions,
  InvoiceOutcome,
  TaxOf,
} from '../gateways/contract/payment.ts'
import { type DownloadOptions, invoiceDownload } from '../invoices/download.ts'
import { Invoice, type InvoiceData } from '../invoices/invoice.ts'
import type { ProviderName } from '../provider-name.ts'
import type { BilledUser } from '../storage/tables.ts'
import { SubscriptionBuilder } from '../subscriptions/builder.ts'
import { Subscription } from '../subscriptions/subscription.ts'
import { requireCount, requireText } from '../values/arguments.ts'
import { type Amount, requirePositive } from '../values/money.ts'
import { onUserTrial, valid } from '../values/subscription-state.ts'
import { parseTaxPercentage } from '../values/tax.ts'

/** How much of a list is wanted. */
export interface ListOptions {
  /** The newest so many. Default: all. */
  readonly limit?: number
}

/** A user of the application, and what billing lets it do. Made for one request, not to be kept. */
export class BillableUser<User = Record<string, unknown>> {
  readonly #context: BillingContext
  readonly #user: LoadedUser

  constructor(context: BillingContext, record: BilledUser) {
    this.#context = context
    this.#user = new LoadedUser(context, record)
  }

  /** Of the application's own row. */
  get id(): string | number {
    return this.#user.record.id
  }

  /** The application's own row. */
  get attributes(): User {
    return this.#user.record.attributes as User
  }

  /** Where this user pays, or would. */
  get provider(): ProviderName {
    return this.#user.record.provider ?? this.#context.options.defaultProvider
  }

  /** The customer's id at the provider. */
  get providerId(): string | null {
    return this.#user.record.providerId
  }

  /** Such as `visa`; null without a card. */
  get cardBrand(): string | null {
    return this.#user.record.cardBrand
  }

  /** The card's last four digits; null without one. */
  get cardLastFour(): string | null {
    return this.#user.record.cardLastFour
  }

  /** The PayPal account that pays; null where a card does. */
  get paypalEmail(): string | null {
    return this.#user.record.paypalEmail
  }

  /** When the user's own trial ends, which needs no card; null for none. */
  get trialEndsAt(): Date | null {
    return this.#user.record.trialEndsAt
  }

  /**
   * Begins a subscription; `create()` makes it.
   * @example
   * await user.newSubscription('main', 'monthly').trialDays(10).create(cardToken, { email })
   */
  newSubscription(name: string, plan: string): SubscriptionBuilder {
    const choices = {
      name: requireText('subscription name', name),
      plan: requireText('plan', plan),
      provider: this.provider,
      coupon: null,
      trialDays: null,
      quantity: 1,
    }
    return new SubscriptionBuilder(this.#context, this.#user, choices)
  }

  /** The newest subscription of that name, or null. */
  async findSubscription(name: string): Promise<Subscription | null> {
    const record = await this.#context.subscriptions.findByName(this.id, name)
    return record ? new Subscription(this.#context, this.#user.record, record) : null
  }

  /** The newest subscription of that name, or NoSubscription. */
  async subscription(name: string): Promise<Subscription> {
    const found = await this.findSubscription(name)
    if (!found) throw new NoSubscription(`The user has no subscription '${name}'`)
    return found
  }

  /** All of them, newest first. */
  async subscriptions(): Promise<Subscription[]> {
    const records = await this.#context.subscriptions.listByUser(this.id)
    return records.map((record) => new Subscription(this.#context, this.#user.record, record))
  }

  /** Active, on trial or in the grace period; with a plan, also on that plan. */
  async subscribed(name: string, plan?: string): Promise<boolean> {
    const record = await this.#context.subscriptions.findByName(this.id, name)
    if (!record || !valid(record, this.#now())) return false
    return plan === undefined || record.providerPlan === plan
  }

  /** Whether that subscription is actively on the plan, or on one of several. */
  async subscribedToPlan(plan: string | readonly string[], name: string): Promise<boolean> {
    const record = await this.#context.subscriptions.findByName(this.id, name)
    if (!record || !valid(record, this.#now())) return false
    return [plan].flat().includes(record.providerPlan)
  }

  /** With a name: that subscription's trial. Without: the user's own, whatever it has subscribed to. */
  async onTrial(name?: string): Promise<boolean> {
    if (name === undefined) return onUserTrial(this.trialEndsAt, this.#now())
    return (await this.findSubscription(name))?.onTrial() ?? false
  }

  /** In the user-level trial, and no subscription was ever created. */
  async onGenericTrial(): Promise<boolean> {
    if (!onUserTrial(this.trialEndsAt, this.#now())) return false
    return !(await this.#context.subscriptions.hasAny(this.id))
  }

  /** Starts, moves or (null) ends the user-level trial, which needs no card. */
  async startGenericTrial(endsAt: Date | null): Promise<void> {
    if (endsAt !== null && Number.isNaN(endsAt.getTime())) {
      throw new InvalidArgument('The end of the trial is not a date')
    }
    await this.#context.users.setTrial(this.id, endsAt)
    await this.#user.reload()
  }

  /** The token's card becomes the one that is billed. Makes a customer where there is none. */
  async updateCard(token: string, details: CustomerDetails = {}): Promise<void> {
    requireText('card token', token)
    const wanted = { provider: this.provider, token, details }
    await withUserLock(this.#context, this.id, (locked) =>
      ensureCustomer(this.#context, locked, wanted),
    )
    await this.#user.reload()
  }

  /**
   * Where this user pays from now on. It can be chosen until the first payment: AlreadySubscribed while
   * something runs at the other provider, ProviderChosen once money has moved there. What was never
   * paid is closed.
   */
  async chooseProvider(provider: ProviderName): Promise<void> {
    await chooseProvider(this.#context, this.id, provider)
    await this.#user.reload()
  }

  /** 0 to 100, as the application says. */
  async taxPercentage(): Promise<number> {
    return (await this.#tax()) / 100
  }

  /**
   * Charges the customer's card once, and gives the provider's whole answer. Throws PaymentFailed when
   * it is declined. A plain number is in the provider's own unit; `money(1999, 'eur')` works at both.
   */
  async charge(amount: Amount, options: ChargeOptions = {}): Promise<unknown> {
    const gateway = await this.#gateway()
    const value = requirePositive(gateway.toMoney(amount))
    const customerId = await this.#requireCustomer()
    return this.#payOnce(options, (provider) => provider.charge(customerId, value, options))
  }

  /** Charges the customer's card at once, with an invoice. Throws when it is declined. */
  async invoiceFor(
    description: string,
    amount: Amount,
    options: InvoiceForOptions = {},
  ): Promise<Invoice> {
    requireText('description', description)
    const gateway = await this.#gateway()
    const value = requirePositive(gateway.toMoney(amount))
    const item = { description, amount: value }
    const customerId = await this.#requireCustomer()
    const outcome = await this.#payOnce(options, (provider) =>
      provider.invoiceFor(customerId, item, options),
    )
    return this.#requirePaid(outcome)
  }

  /** Paid invoices, newest first: all of them, or so many. */
  invoices(options: ListOptions = {}): Promise<Invoice[]> {
    return this.#invoices(options, false)
  }

  /** Also those that are not paid yet, and those whose money is still on its way. */
  invoicesIncludingPending(options: ListOptions = {}): Promise<Invoice[]> {
    return this.#invoices(options, true)
  }

  /** One of the user's own invoices, or null: somebody else's looks like none. */
  async findInvoice(id: string): Promise<Invoice | null> {
    const customerId = await this.#customer()
    if (customerId === null) return null
    const gateway = await this.#gateway()
    const data = await gateway.findInvoice(id, customerId, await this.#taxOf())
    return data ? this.#invoice(data) : null
  }

  /** The invoice as a PDF download. */
  async downloadInvoice(id: string, options: DownloadOptions): Promise<Response> {
    const invoice = await this.findInvoice(id)
    if (!invoice) throw new InvoiceNotFound('There is no such invoice')
    return invoiceDownload(invoice, options)
  }

  /** Brings this user's rows to the provider's state. */
  async sync(options: { readonly dryRun?: boolean } = {}): Promise<DriftReport> {
    const report = await syncUser(this.#context, this.#user.record, options)
    await this.#user.reload()
    return report
  }

  /** The SDK's own customer object, or null. */
  async asCustomer(): Promise<unknown> {
    if (this.providerId === null) return null
    const found = await (await this.#gateway()).findCustomer(this.providerId)
    return found?.raw ?? null
  }

  async #invoices(options: ListOptions, pending: boolean): Promise<Invoice[]> {
    const limit = options.limit === undefined ? null : requireCount(options.limit)
    const customerId = await this.#customer()
    if (customerId === null) return []
    const gateway = await this.#gateway()
    const found = await gateway.listInvoices(customerId, {
      pending,
      limit,
      taxOf: await this.#taxOf(),
    })
    return found.map((data) => this.#invoice(data))
  }

  /** With a key of the caller's, one at a time: a repeat first looks for what the others did. */
  async #payOnce<R>(
    { idempotencyKey }: ChargeOptions,
    pay: (gateway: Gateway) => Promise<R>,
  ): Promise<R> {
    if (idempotencyKey === undefined) return pay(await this.#gateway())
    requireText('idempotency key', idempotencyKey)
    const { provider } = this
    return withUserLock(this.#context, this.id, (locked) => locked.change(provider, pay))
  }

  #invoice(data: InvoiceData): Invoice {
    return new Invoice(data, undefined, () => this.#pay(data.id))
  }

  async #pay(id: string): Promise<Invoice> {
    const customerId = await this.#requireCustomer()
    const { provider } = this
    const outcome = await withUserLock(this.#context, this.id, async (locked) => {
      const paid = await locked.change(provider, (gateway) => gateway.payInvoice(id, customerId))
      const providerId = paid?.subscription
      if (providerId) await converge(this.#context, locked, { provider, providerId })
      return paid
    })
    if (!outcome) throw new InvoiceNotFound('There is no such invoice')
    return this.#requirePaid(outcome)
  }

  #requirePaid({ invoice, failure }: InvoiceOutcome): Invoice {
    if (!failure) return this.#invoice(invoice)
    failure.invoice = this.#invoice(invoice)
    throw failure
  }

  async #taxOf(): Promise<TaxOf> {
    return taxAt(await this.#context.taxes.listByUser(this.id), await this.#tax())
  }

  async #tax(): Promise<number> {
    return parseTaxPercentage(
      await this.#context.options.taxPercentage({ ...this.#user.record.attributes }),
    )
  }

  async #requireCustomer(): Promise<string> {
    const customerId = await this.#customer()
    if (customerId !== null) return customerId
    throw new NoCustomer('The user has no customer yet: call updateCard() or create a subscription')
  }

  /** Looked up again when there was none: it may have been made since this user was read. */
  async #customer(): Promise<string | null> {
    return this.providerId ?? (await this.#user.reload()).providerId
  }

  #gateway(): Promise<Gateway> {
    return this.#context.gateway(this.provider)
  }

  #now(): Date {
    return this.#context.options.clock.now()
  }
}

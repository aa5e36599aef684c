import type { HttpServer } from '../../core/http.ts'
import { copyJson } from '../../core/store/copy-json.ts'
import type { Table } from '../../core/store/table.ts'
import { createPrice } from '../catalog/prices.ts'
import { createProduct } from '../catalog/products.ts'
import { settleBalance } from '../payments/balance-transactions.ts'
import { closeDispute, openDispute } from '../payments/disputes.ts'
import { failRefund } from '../payments/refunds.ts'
import { completeCheckout } from '../resources/checkout-completion.ts'
import { type DroppedEvents, dropMeterEvents } from '../resources/dropped-usage.ts'
import { finishAuthentication } from '../resources/payment-confirmation.ts'
import { finishSetupAuthentication } from '../resources/setup-intents.ts'
import type { StripeContext } from '../state/context.ts'
import { renderEvent } from '../state/events.ts'
import { render } from '../state/render.ts'
import type { Kind, Rows } from '../state/rows.ts'
import { sendThinEvent } from '../state/thin-events.ts'
import { inOneStep, UnitOfWork } from '../state/unit-of-work.ts'
import type { WireObject } from '../wire/wire-object.ts'
import type {
  CheckoutInput,
  DisputeInput,
  RegisteredWebhook,
  SeedPrice,
  StripeHandle,
  StripeSdkConfig,
} from './handle.ts'

export function createStripeHandle(
  context: StripeContext,
  server: HttpServer,
  keys: StripeKeys,
): StripeHandle {
  return new RunningStripe(context, server, keys)
}

export interface StripeKeys {
  readonly apiKey: string
  readonly publishableKey: string
}

/** Rendered objects share their nested parts with the tables, so what is shown is a copy. */
class RunningStripe implements StripeHandle {
  readonly #context: StripeContext
  readonly #server: HttpServer
  readonly apiKey: string
  readonly publishableKey: string
  readonly apiVersion: string

  constructor(context: StripeContext, server: HttpServer, keys: StripeKeys) {
    this.#context = context
    this.#server = server
    this.apiKey = keys.apiKey
    this.publishableKey = keys.publishableKey
    this.apiVersion = context.apiVersion
  }

  get url(): string {
    return this.#server.url
  }

  get config(): StripeSdkConfig {
    return { host: this.#server.host, port: this.#server.port, protocol: 'http', telemetry: false }
  }

  customer(id: string): WireObject | null {
    return this.#find('customer', id)
  }

  subscription(id: string): WireObject | null {
    return this.#find('subscription', id)
  }

  schedule(id: string): WireObject | null {
    return this.#find('subscription_schedule', id)
  }

  invoice(id: string): WireObject | null {
    return this.#find('invoice', id)
  }

  paymentIntent(id: string): WireObject | null {
    return this.#find('payment_intent', id)
  }

  paymentMethod(id: string): WireObject | null {
    return this.#find('payment_method', id)
  }

  customers(): WireObject[] {
    return this.#all('customer').filter((customer) => customer.deleted !== true)
  }

  subscriptions(customer?: string): WireObject[] {
    return this.#of('subscription', customer)
  }

  invoices(customer?: string): WireObject[] {
    return this.#of('invoice', customer)
  }

  paidInvoices(customer?: string): WireObject[] {
    const table = this.#context.tables.invoice
    if (customer === undefined) return this.#show('invoice', table.newestBy('status', 'paid'))
    const rows = table.newestBy('customer', customer)
    return this.#show(
      'invoice',
      rows.filter(({ status }) => status === 'paid'),
    )
  }

  charges(customer?: string): WireObject[] {
    return this.#of('charge', customer)
  }

  dispute(id: string): WireObject | null {
    this.#change(settleBalance)
    return this.#find('dispute', id)
  }

  disputes(charge?: string): WireObject[] {
    this.#change(settleBalance)
    const all = this.#all('dispute')
    return charge === undefined ? all : all.filter((dispute) => dispute.charge === charge)
  }

  events(type?: string): WireObject[] {
    const rows = [...this.#context.tables.event.values()]
    return rows
      .filter((row) => type === undefined || row.type === type)
      .map((row) => renderEvent(this.#context, row, 0))
  }

  webhooks(): RegisteredWebhook[] {
    const enabled = [...this.#context.tables.webhook_endpoint.values()].filter(
      ({ status }) => status === 'enabled',
    )
    return enabled.map(({ id, url, enabled_events, $ }) => ({
      id,
      url,
      events: [...enabled_events],
      secret: $.secret,
    }))
  }

  registerWebhook(
    url: string,
    events: readonly string[] = ['*'],
    options: { readonly secret?: string } = {},
  ): RegisteredWebhook {
    return this.#change((work) => {
      const id = work.newId('we_1')
      const secret = options.secret ?? work.newId('whsec_', 32)
      work.insert('webhook_endpoint', {
        id,
        object: 'webhook_endpoint',
        api_version: this.apiVersion,
        application: null,
        created: work.now,
        description: null,
        enabled_events: [...events],
        livemode: false,
        metadata: {},
        status: 'enabled',
        url,
        $: { secret },
      })
      return { id, url, events, secret }
    })
  }

  seedPrice(seed: SeedPrice): WireObject {
    return this.#change((work) => {
      const productId = seed.product ?? `prod_${seed.id}`
      if (!work.find('product', productId)) {
        const product = createProduct(work, { id: productId, name: seed.product ?? seed.id })
        work.emit('product.created', 'product', product)
      }
      const price = createPrice(work, {
        id: seed.id,
        currency: seed.currency ?? 'usd',
        product: productId,
        unit_amount: seed.unitAmount,
        ...(seed.interval
          ? { recurring: { interval: seed.interval, interval_count: seed.intervalCount ?? 1 } }
          : {}),
      })
      return render('price', price, work.tables)
    })
  }

  completeAuthentication(intentId: string): WireObject {
    return this.#authenticate(intentId, true)
  }

  failAuthentication(intentId: string): WireObject {
    return this.#authenticate(intentId, false)
  }

  completeCheckout(sessionId: string, options: CheckoutInput = {}): WireObject {
    return this.#change((work) => {
      const session = completeCheckout(work, sessionId, options)
      return render('checkout.session', session, work.tables)
    }, sessionId)
  }

  failRefund(refundId: string): WireObject {
    return this.#change((work) => {
      const refund = work.require('refund', refundId)
      failRefund(work, refund)
      return render('refund', refund, work.tables)
    })
  }

  disputeCharge(chargeId: string, options: DisputeInput = {}): WireObject {
    return this.#change((work) => {
      const charge = work.require('charge', chargeId)
      const dispute = openDispute(work, charge, { reason: 'fraudulent', ...options })
      return render('dispute', dispute, work.tables)
    })
  }

  dropMeterEvents(customer: string, options: DroppedEvents = {}): WireObject {
    const event = this.#change((work) => dropMeterEvents(work, customer, options))
    sendThinEvent(this.#context, event)
    return { ...event }
  }

  decideDispute(disputeId: string, outcome: 'won' | 'lost'): WireObject {
    return this.#change((work) => {
      const dispute = work.require('dispute', disputeId)
      closeDispute(work, dispute, outcome)
      return render('dispute', dispute, work.tables)
    })
  }

  close(): Promise<void> {
    return this.#server.close()
  }

  #authenticate(id: string, passed: boolean): WireObject {
    return this.#change(
      (work) =>
        id.startsWith('seti_')
          ? render('setup_intent', finishSetupAuthentication(work, id, passed), work.tables)
          : render('payment_intent', finishAuthentication(work, id, passed), work.tables),
      id,
    )
  }

  /** `id`: what it is about, and whose time it therefore happens in. */
  #change<T>(run: (work: UnitOfWork) => T, id = ''): T {
    return inOneStep(new UnitOfWork(this.#context, { about: [id] }), run)
  }

  #find<K extends Kind>(kind: K, id: string): WireObject | null {
    const row = this.#context.tables[kind].get(id) as Rows[K] | undefined
    return row ? copyJson(render(kind, row, this.#context.tables)) : null
  }

  #all<K extends Kind>(kind: K): WireObject[] {
    return this.#show(kind, this.#context.tables[kind].newestFirst() as Iterable<Rows[K]>)
  }

  #of<K extends 'subscription' | 'invoice' | 'charge'>(kind: K, customer?: string): WireObject[] {
    if (customer === undefined) return this.#all(kind)
    const table = this.#context.tables[kind] as unknown as Table<Rows[K]>
    return this.#show(kind, table.newestBy('customer', customer))
  }

  #show<K extends Kind>(kind: K, rows: Iterable<Rows[K]>): WireObject[] {
    const { tables } = this.#context
    return Array.from(rows, (row) => copyJson(render(kind, row, tables)))
  }
}

import type { HttpServer } from '../../core/http.ts'
import { copyJson } from '../../core/store/copy-json.ts'
import type { StoreTable } from '../../core/store/table.ts'
import type { ApiKeys } from '../api/keys.ts'
import { markAvailableFunds } from '../payments/balance-transactions.ts'
import { closeDispute, openDispute } from '../payments/disputes.ts'
import { failRefund } from '../payments/refunds.ts'
import { completeCheckout } from '../resources/checkout-completion.ts'
import { dropMeterEvents } from '../resources/dropped-usage.ts'
import { finishAuthentication } from '../resources/payment-confirmation.ts'
import { finishSetupAuthentication } from '../resources/setup-intents.ts'
import { createBlankRow } from '../state/blank.ts'
import type { StripeContext } from '../state/context.ts'
import { renderEvent } from '../state/events.ts'
import { renderRow } from '../state/render.ts'
import type { RowKind, StripeRows } from '../state/rows.ts'
import { sendThinEvent } from '../state/thin-events.ts'
import { runAtomically, UnitOfWork } from '../state/unit-of-work.ts'
import type { WireObject } from '../wire/wire-object.ts'
import type { StripeHandle } from './handle.ts'
import { seedPrice } from './seed-price.ts'

/**
 * Creates the handle with which tests control the sandbox's Stripe. It returns copies of objects,
 * because rendered objects share nested objects with the tables.
 */
export function createStripeHandle(
  context: StripeContext,
  server: HttpServer,
  keys: ApiKeys,
): StripeHandle {
  const { apiVersion, tables } = context

  /** Runs a change. `id` is the id of the object to change; it determines which clock applies. */
  const change = <T>(run: (work: UnitOfWork) => T, id = ''): T =>
    runAtomically(new UnitOfWork(context, { about: [id] }), run)

  const show = <K extends RowKind>(kind: K, rows: Iterable<StripeRows[K]>): WireObject[] =>
    Array.from(rows, (row) => copyJson(renderRow(kind, row, tables)))
  const tableOf = <K extends RowKind>(kind: K) =>
    tables[kind] as unknown as StoreTable<StripeRows[K]>
  const find = <K extends RowKind>(kind: K, id: string): WireObject | null => {
    const row = tableOf(kind).get(id)
    return row ? copyJson(renderRow(kind, row, tables)) : null
  }
  const all = <K extends RowKind>(kind: K) => show(kind, tableOf(kind).newestFirst())
  const allOf = <K extends 'subscription' | 'invoice' | 'charge'>(kind: K, customer?: string) =>
    customer === undefined ? all(kind) : show(kind, tableOf(kind).newestBy('customer', customer))

  const authenticate = (id: string, passed: boolean): WireObject =>
    change(
      (work) =>
        id.startsWith('seti_')
          ? renderRow('setup_intent', finishSetupAuthentication(work, id, passed), tables)
          : renderRow('payment_intent', finishAuthentication(work, id, passed), tables),
      id,
    )

  return {
    apiKey: keys.apiKey,
    publishableKey: keys.publishableKey,
    apiVersion,
    url: server.url,
    config: { host: server.host, port: server.port, protocol: 'http', telemetry: false },

    customer: (id) => find('customer', id),
    subscription: (id) => find('subscription', id),
    schedule: (id) => find('subscription_schedule', id),
    invoice: (id) => find('invoice', id),
    paymentIntent: (id) => find('payment_intent', id),
    paymentMethod: (id) => find('payment_method', id),
    customers: () => all('customer').filter((customer) => customer.deleted !== true),
    subscriptions: (customer) => allOf('subscription', customer),
    invoices: (customer) => allOf('invoice', customer),
    paidInvoices(customer) {
      if (customer === undefined) return show('invoice', tables.invoice.newestBy('status', 'paid'))
      const rows = tables.invoice.newestBy('customer', customer)
      return show(
        'invoice',
        rows.filter(({ status }) => status === 'paid'),
      )
    },
    charges: (customer) => allOf('charge', customer),
    dispute(id) {
      change(markAvailableFunds)
      return find('dispute', id)
    },
    disputes(charge) {
      change(markAvailableFunds)
      return all('dispute').filter((dispute) => charge === undefined || dispute.charge === charge)
    },
    events: (type) =>
      [...tables.event.values()]
        .filter((row) => type === undefined || row.type === type)
        .map((row) => renderEvent(context, row, 0)),

    webhooks: () =>
      [...tables.webhook_endpoint.values()]
        .filter(({ status }) => status === 'enabled')
        .map(({ id, url, enabled_events, $ }) => ({
          id,
          url,
          events: [...enabled_events],
          secret: $.secret,
        })),
    registerWebhook: (url, events = ['*'], options = {}) =>
      change((work) => {
        const id = work.newId('we_1')
        const secret = options.secret ?? work.newId('whsec_', 32)
        work.insert('webhook_endpoint', {
          ...createBlankRow('webhook_endpoint'),
          id,
          api_version: apiVersion,
          created: work.now,
          enabled_events: [...events],
          metadata: {},
          status: 'enabled',
          url,
          $: { secret },
        })
        return { id, url, events, secret }
      }),
    seedPrice: (seed) => change((work) => seedPrice(work, seed)),

    completeAuthentication: (intentId) => authenticate(intentId, true),
    failAuthentication: (intentId) => authenticate(intentId, false),
    completeCheckout: (sessionId, options = {}) =>
      change(
        (work) => renderRow('checkout.session', completeCheckout(work, sessionId, options), tables),
        sessionId,
      ),
    failRefund: (refundId) =>
      change((work) => {
        const refund = work.require('refund', refundId)
        failRefund(work, refund)
        return renderRow('refund', refund, tables)
      }),
    disputeCharge: (chargeId, options = {}) =>
      change((work) => {
        const cause = { reason: 'fraudulent', ...options }
        const dispute = openDispute(work, work.require('charge', chargeId), cause)
        return renderRow('dispute', dispute, tables)
      }),
    decideDispute: (disputeId, outcome) =>
      change((work) => {
        const dispute = work.require('dispute', disputeId)
        closeDispute(work, dispute, outcome)
        return renderRow('dispute', dispute, tables)
      }),
    dropMeterEvents(customer, options = {}) {
      const event = change((work) => dropMeterEvents(work, customer, options))
      sendThinEvent(context, event)
      return { ...event }
    },
    close: () => server.close(),
  }
}

import { describe, expect, expectTypeOf, it } from 'vitest'
import type { WebhookHandlers } from '../../options.ts'
import { buildHandlerName, type HandlerName } from '../../providers/handlers.ts'

describe('the names of webhook handlers', () => {
  it.each([
    ['invoice.payment_succeeded', 'handleInvoicePaymentSucceeded'],
    ['customer.subscription.deleted', 'handleCustomerSubscriptionDeleted'],
    ['dispute_opened', 'handleDisputeOpened'],
    ['check', 'handleCheck'],
    ['__proto__', 'handleProto'],
  ])('are derived from the event type: the handler of %s is %s', (type, name) => {
    expect(buildHandlerName(type)).toBe(name)
  })

  it('are derived from the event type in TypeScript too', () => {
    expectTypeOf<
      HandlerName<'invoice.payment_succeeded'>
    >().toEqualTypeOf<'handleInvoicePaymentSucceeded'>()
    const handlers: WebhookHandlers = {
      handleInvoicePaymentSucceeded(payload) {
        expectTypeOf(payload.type).toEqualTypeOf<'invoice.payment_succeeded'>()
        return payload.data.object.amount_paid
      },
      handleDisputeOpened(notification) {
        expectTypeOf(notification.kind).toEqualTypeOf<'dispute_opened'>()
        return notification.dispute.id
      },
    }
    // @ts-expect-error there is no such event
    handlers.handleNoSuchEvent = () => undefined
    expect(Object.keys(handlers)).toContain('handleDisputeOpened')
  })
})

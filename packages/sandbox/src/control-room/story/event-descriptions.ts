import type { StepTone } from './step.ts'

interface EventDescription {
  readonly title: string
  readonly tone: StepTone
  /**
   * Weight of the event type. A step of several events is named after the event with the highest
   * weight.
   */
  readonly weight: number
}

function describe(weight: number, title: string, tone: StepTone = 'plain'): EventDescription {
  return { weight, title, tone }
}

const DESCRIPTIONS: Readonly<Record<string, EventDescription>> = {
  'invoice.payment_action_required': describe(
    95,
    'Payment requires action by the customer',
    'warning',
  ),
  'charge.dispute.created': describe(93, 'Payment disputed', 'bad'),
  'charge.dispute.closed': describe(92, 'Dispute closed'),
  'invoice.payment_failed': describe(90, 'Payment failed', 'bad'),
  'customer.subscription.deleted': describe(88, 'Subscription ended', 'bad'),
  'customer.subscription.paused': describe(86, 'Subscription paused', 'warning'),
  'customer.subscription.resumed': describe(85, 'Subscription resumed', 'good'),
  'customer.subscription.trial_will_end': describe(82, 'Trial ends soon', 'warning'),
  'customer.subscription.created': describe(80, 'Subscription started', 'good'),
  'checkout.session.completed': describe(81, 'Checkout completed', 'good'),
  'checkout.session.async_payment_failed': describe(80, 'Bank debit failed', 'bad'),
  'checkout.session.async_payment_succeeded': describe(79, 'Bank debit received', 'good'),
  'checkout.session.expired': describe(78, 'Checkout expired', 'warning'),
  'charge.refunded': describe(76, 'Payment refunded', 'warning'),
  'refund.created': describe(75, 'Refund created', 'warning'),
  'credit_note.created': describe(74, 'Credit note issued'),
  'customer.deleted': describe(73, 'Customer deleted', 'bad'),
  'invoice.paid': describe(70, 'Invoice paid', 'good'),
  'invoice.payment_succeeded': describe(69, 'Invoice paid', 'good'),
  'invoice.voided': describe(68, 'Invoice voided', 'warning'),
  'invoice.marked_uncollectible': describe(67, 'Invoice marked uncollectible', 'bad'),
  'invoice.overdue': describe(66, 'Invoice overdue', 'bad'),
  'customer.created': describe(65, 'Customer created'),
  'setup_intent.succeeded': describe(58, 'Card set up', 'good'),
  'payment_intent.payment_failed': describe(56, 'Payment failed', 'bad'),
  'charge.failed': describe(55, 'Payment failed', 'bad'),
  'payment_intent.requires_action': describe(
    54,
    'Payment requires action by the customer',
    'warning',
  ),
  'payment_intent.succeeded': describe(50, 'Payment received', 'good'),
  'charge.succeeded': describe(49, 'Payment received', 'good'),
  'payment_intent.canceled': describe(48, 'Payment canceled', 'warning'),
  'invoice.sent': describe(42, 'Invoice sent'),
  'invoice.finalized': describe(40, 'Invoice issued'),
  'invoice.created': describe(38, 'Invoice drafted'),
  'invoice.upcoming': describe(37, 'Renewal upcoming'),
  'customer.subscription.pending_update_expired': describe(36, 'Pending change expired', 'warning'),
  'customer.subscription.pending_update_applied': describe(36, 'Pending change applied', 'good'),
  'customer.subscription.updated': describe(30, 'Subscription changed'),
  'subscription_schedule.created': describe(29, 'Schedule created'),
  'subscription_schedule.updated': describe(28, 'Schedule changed'),
  'payment_method.attached': describe(25, 'Payment method added'),
  'payment_method.detached': describe(25, 'Payment method removed'),
  'invoiceitem.created': describe(22, 'Invoice item added'),
  'payment_intent.created': describe(21, 'Payment created'),
  'customer.updated': describe(20, 'Customer changed'),
  'invoice.updated': describe(10, 'Invoice changed'),
}

/**
 * Returns the title of an event type. Unknown types are spelled out: `tax_rate.created` becomes
 * "Tax rate created".
 */
export function describeEventType(type: string): EventDescription {
  const known = Object.hasOwn(DESCRIPTIONS, type) ? DESCRIPTIONS[type] : undefined
  if (known) return known
  const text = type.replaceAll(/[._]+/g, ' ')
  return describe(5, text.charAt(0).toUpperCase() + text.slice(1))
}

import type { Tone } from './step.ts'

interface Words {
  readonly title: string
  readonly tone: Tone
  /** Of several things at one moment, the heaviest gives the step its name. */
  readonly weight: number
}

function words(weight: number, title: string, tone: Tone = 'plain'): Words {
  return { weight, title, tone }
}

const WORDS: Readonly<Record<string, Words>> = {
  'invoice.payment_action_required': words(95, 'Payment waits for the customer', 'warning'),
  'charge.dispute.created': words(93, 'Payment disputed', 'bad'),
  'charge.dispute.closed': words(92, 'Dispute closed'),
  'invoice.payment_failed': words(90, 'Payment failed', 'bad'),
  'customer.subscription.deleted': words(88, 'Subscription ended', 'bad'),
  'customer.subscription.paused': words(86, 'Subscription paused', 'warning'),
  'customer.subscription.resumed': words(85, 'Subscription resumed', 'good'),
  'customer.subscription.trial_will_end': words(82, 'Trial ends soon', 'warning'),
  'customer.subscription.created': words(80, 'Subscription started', 'good'),
  'checkout.session.completed': words(81, 'Checkout completed', 'good'),
  'checkout.session.async_payment_failed': words(80, 'Bank debit failed', 'bad'),
  'checkout.session.async_payment_succeeded': words(79, 'Bank debit received', 'good'),
  'checkout.session.expired': words(78, 'Checkout expired', 'warning'),
  'charge.refunded': words(76, 'Payment refunded', 'warning'),
  'refund.created': words(75, 'Refund made', 'warning'),
  'credit_note.created': words(74, 'Credit note issued'),
  'customer.deleted': words(73, 'Customer deleted', 'bad'),
  'invoice.paid': words(70, 'Invoice paid', 'good'),
  'invoice.payment_succeeded': words(69, 'Invoice paid', 'good'),
  'invoice.voided': words(68, 'Invoice voided', 'warning'),
  'invoice.marked_uncollectible': words(67, 'Invoice given up', 'bad'),
  'invoice.overdue': words(66, 'Invoice overdue', 'bad'),
  'customer.created': words(65, 'Customer created'),
  'setup_intent.succeeded': words(58, 'Card set up', 'good'),
  'payment_intent.payment_failed': words(56, 'Payment failed', 'bad'),
  'charge.failed': words(55, 'Payment failed', 'bad'),
  'payment_intent.requires_action': words(54, 'Payment waits for the customer', 'warning'),
  'payment_intent.succeeded': words(50, 'Payment received', 'good'),
  'charge.succeeded': words(49, 'Payment received', 'good'),
  'payment_intent.canceled': words(48, 'Payment canceled', 'warning'),
  'invoice.sent': words(42, 'Invoice sent'),
  'invoice.finalized': words(40, 'Invoice issued'),
  'invoice.created': words(38, 'Invoice drafted'),
  'invoice.upcoming': words(37, 'Renewal announced'),
  'customer.subscription.pending_update_expired': words(36, 'Change expired unpaid', 'warning'),
  'customer.subscription.pending_update_applied': words(36, 'Change applied', 'good'),
  'customer.subscription.updated': words(30, 'Subscription changed'),
  'subscription_schedule.created': words(29, 'Schedule made'),
  'subscription_schedule.updated': words(28, 'Schedule moved on'),
  'payment_method.attached': words(25, 'Payment method added'),
  'payment_method.detached': words(25, 'Payment method removed'),
  'invoiceitem.created': words(22, 'Invoice item added'),
  'payment_intent.created': words(21, 'Payment begun'),
  'customer.updated': words(20, 'Customer changed'),
  'invoice.updated': words(10, 'Invoice changed'),
}

/** In plain words; a type that has none of its own is read aloud: `tax_rate.created`, Tax rate created. */
export function wordsOf(type: string): Words {
  const known = Object.hasOwn(WORDS, type) ? WORDS[type] : undefined
  if (known) return known
  const text = type.replaceAll(/[._]+/g, ' ')
  return words(5, text.charAt(0).toUpperCase() + text.slice(1))
}

import { createHmac, timingSafeEqual } from 'node:crypto'
import { signMessage } from '../../braintree/state/notifications.ts'
import type { Delivery, DeliveryAttempt } from '../../core/outbox.ts'
import { findReceiver } from '../../stripe/state/receivers.ts'
import type { ObservedSandbox } from '../story/observed-sandbox.ts'

/** The signature of a webhook, and whether the signature is valid. */
export interface SignatureCheck {
  /** Name of the header or form field with the signature: `Stripe-Signature` or `bt_signature`. */
  readonly name: string
  /** The signature. `null` if nothing was sent yet, or the webhook endpoint was deleted. */
  readonly value: string | null
  readonly secret: string | null
  readonly isRight: boolean | null
}

export interface InspectedDelivery extends Omit<Delivery, 'body'> {
  /** The body of the webhook request, byte for byte. */
  readonly body: string
  /** The readable content of the webhook: JSON, or the XML of a Braintree notification. */
  readonly payload: { readonly format: 'json' | 'xml'; readonly text: string }
  readonly signature: SignatureCheck
  /** A curl command that sends the webhook. */
  readonly curl: string
}

export function inspectDelivery(sandbox: ObservedSandbox, id: string): InspectedDelivery | null {
  const delivery = sandbox.outbox.find(id)
  if (!delivery) return null
  const stripe = delivery.provider === 'stripe'
  const signature = stripe
    ? stripeSignature(sandbox, delivery)
    : braintreeSignature(sandbox, delivery)
  return {
    ...delivery,
    attempts: delivery.attempts.map((attempt) => ({ ...attempt })),
    payload: stripe
      ? { format: 'json', text: delivery.body }
      : { format: 'xml', text: readNotification(delivery.body) },
    signature,
    curl: buildCurlCommand(delivery, delivery.attempts.at(-1)),
  }
}

function stripeSignature({ stripe }: ObservedSandbox, delivery: Delivery): SignatureCheck {
  const receiver = stripe && findReceiver(stripe.context.tables, delivery.endpointId)
  const secret = receiver?.secret ?? null
  const value = delivery.attempts.at(-1)?.headers?.['stripe-signature'] ?? null
  const [, time = '', sent = ''] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(value ?? '') ?? []
  const made = createHmac('sha256', secret ?? '')
    .update(`${time}.${delivery.body}`)
    .digest('hex')
  const isRight = value === null || secret === null ? null : isSame(made, sent)
  return { name: 'Stripe-Signature', value, secret, isRight }
}

function braintreeSignature({ braintree }: ObservedSandbox, delivery: Delivery): SignatureCheck {
  const form = new URLSearchParams(delivery.body)
  const value = form.get('bt_signature')
  const signer = value?.split('|')[0]
  const keys = braintree?.merchants.find(({ keys }) => keys.publicKey === signer)?.keys
  const made = keys ? signMessage(keys, form.get('bt_payload') ?? '') : ''
  return {
    name: 'bt_signature',
    value,
    secret: keys?.privateKey ?? null,
    isRight: value === null ? null : isSame(made, value),
  }
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function readNotification(body: string): string {
  const payload = new URLSearchParams(body).get('bt_payload') ?? ''
  return indentXml(Buffer.from(payload, 'base64').toString('utf8'))
}

/**
 * Formats XML for reading: puts each element on its own line. Elements that contain only text stay
 * on one line.
 */
export function indentXml(xml: string): string {
  let depth = 0
  const lines: string[] = []
  for (const part of xml.match(/<[^>]+>[^<]*/g) ?? []) {
    const closes = part.startsWith('</')
    const last = lines.at(-1) ?? ''
    if (closes) depth--
    // An element whose content is only text, or empty, closes on the same line.
    const isEndOfLast =
      closes && isOpeningTag(last.trimStart()) && last.trimStart().startsWith(`<${nameOf(part)}`)
    if (isEndOfLast) lines[lines.length - 1] = last + part.trimEnd()
    else lines.push('  '.repeat(Math.max(0, depth)) + part.trimEnd())
    if (isOpeningTag(part)) depth++
  }
  return lines.join('\n')
}

function isOpeningTag(part: string): boolean {
  return !/^<[/?!]/.test(part) && !/^<[^>]*\/>/.test(part) && !part.includes('</')
}

function nameOf(part: string): string {
  return /^<\/?([^\s>/]+)/.exec(part)?.[1] ?? ''
}

function buildCurlCommand(delivery: Delivery, last: DeliveryAttempt | undefined): string {
  const headers = Object.entries({ ...delivery.headers, ...last?.headers })
  const lines = [
    `curl -X POST ${quote(delivery.url)}`,
    ...headers.map(([name, value]) => `  -H ${quote(`${name}: ${value}`)}`),
    `  --data-raw ${quote(delivery.body)}`,
  ]
  return lines.join(' \\\n')
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

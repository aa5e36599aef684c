/** The largest payload that is shown whole, in characters. */
const LARGEST_PAYLOAD = 64 * 1024
const HIDDEN = '[hidden]'
const SECRET_NAME =
  /secret|password|private_?key|authorization|signature|nonce|cvv|cvc|(^|_)token$/i
const CARD_NUMBER = /(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w.-])/g

/** A payload as operators see it. */
export interface ShownPayload {
  /** The content: a JSON value, or text if it is too large or not JSON. */
  readonly payload: unknown
  /** Whether the end is missing, because the payload is too large. */
  readonly payload_truncated: boolean
}

/** Prepares the payload of a webhook for operators: without secrets and card numbers, and bounded. */
export function showPayload(stored: string): ShownPayload {
  try {
    const value = unwrap(parse(stored))
    const payload = typeof value === 'string' ? withoutSecrets(value) : value
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
    if (text.length <= LARGEST_PAYLOAD) return { payload, payload_truncated: false }
    return { payload: text.slice(0, LARGEST_PAYLOAD), payload_truncated: true }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return { payload: '[nested too deeply]', payload_truncated: true }
  }
}

/** Parses JSON and hides its secrets on the way. Returns the text itself if it is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text, (name, value) => {
      if (typeof value === 'string') {
        return SECRET_NAME.test(name) && value !== '' ? HIDDEN : withoutCards(value)
      }
      return typeof value === 'number' ? withoutCard(value) : value
    })
  } catch (error) {
    if (error instanceof SyntaxError) return text
    throw error
  }
}

/** Braintree sends XML in base64 with a signature, stored as `{ signature, payload }`. */
function unwrap(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const { signature, payload, ...others } = value as Record<string, unknown>
  const isWrapped =
    Object.keys(others).length === 0 && signature !== undefined && typeof payload === 'string'
  return isWrapped ? Buffer.from(payload, 'base64').toString('utf8') : value
}

/** Hides secrets and card numbers in XML. */
function withoutSecrets(xml: string): string {
  const hidden = xml.replace(/<([\w-]+)([^>]*)>([^<]+)<\//g, (whole, name: string, more: string) =>
    SECRET_NAME.test(name.replaceAll('-', '_')) ? `<${name}${more}>${HIDDEN}</` : whole,
  )
  return withoutCards(hidden)
}

function withoutCards(text: string): string {
  return text.replace(CARD_NUMBER, (number) => {
    const digits = number.replace(/\D/g, '')
    return isCardNumber(digits) ? `${HIDDEN} ${digits.slice(-4)}` : number
  })
}

function withoutCard(value: number): unknown {
  const digits = String(value)
  return /^\d{13,19}$/.test(digits) && isCardNumber(digits) ? HIDDEN : value
}

/** Whether the last digit is the check digit of a card number (ISO/IEC 7812-1). */
function isCardNumber(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 0 ? 1 : 2)
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return sum % 10 === 0
}

import { Html, html } from '@tollgate/http'

interface Field {
  readonly name: string
  readonly label: string
  readonly placeholder: string
  readonly autocomplete: string
  /** Relative width of the field in its line. */
  readonly width: string
}

const NUMBER = field(
  'cardnumber',
  'Credit or debit card number',
  'Card number',
  'cc-number',
  '12rem',
)
const EXPIRY = field(
  'exp-date',
  'Credit or debit card expiration date',
  'MM / YY',
  'cc-exp',
  '4.5rem',
)
const CVC = field('cvc', 'Credit or debit card CVC/CVV', 'CVC', 'cc-csc', '3.5rem')
const POSTAL = field('postal', 'ZIP', 'ZIP', 'postal-code', '6.5rem')

function field(
  name: string,
  label: string,
  placeholder: string,
  autocomplete: string,
  width: string,
): Field {
  return { name, label, placeholder, autocomplete, width }
}

/** Fields of each element, with the names used in Stripe's own frames. */
const ELEMENTS: Readonly<Record<string, readonly Field[]>> = {
  card: [NUMBER, EXPIRY, CVC, POSTAL],
  cardNumber: [NUMBER],
  cardExpiry: [EXPIRY],
  cardCvc: [CVC],
  payment: [
    { ...NUMBER, name: 'number', label: 'Card number', placeholder: '1234 1234 1234 1234' },
    { ...EXPIRY, name: 'expiry', label: 'Expiration date' },
    { ...CVC, name: 'cvc', label: 'Security code' },
  ],
}

const STYLE = `
html, body { margin: 0; background: transparent; color: CanvasText; font: 16px/1.4 system-ui, sans-serif; }
main { display: flex; flex-wrap: wrap; gap: .25rem .75rem; padding: .3rem; }
label { display: block; flex: 1 1 var(--width); min-width: var(--width); }
.payment label:first-child { flex-basis: 100%; }
.payment span { display: block; font-size: .85rem; margin-bottom: .15rem; }
input { font: inherit; color: FieldText; background: Field; width: 100%; box-sizing: border-box;
  border: 1px solid GrayText; border-radius: .3rem; padding: .3rem .4rem; }
input:focus-visible { outline: 2px solid Highlight; outline-offset: 1px; }
input[aria-invalid=true] { border-color: #d32f2f; border-width: 2px; }`

/**
 * Returns the HTML of the iframe of a Stripe.js element, such as `card`. `null` if there is no
 * element of this type.
 */
export function renderStripeElement(type: string): string | null {
  const fields = Object.hasOwn(ELEMENTS, type) ? ELEMENTS[type] : undefined
  if (!fields) return null
  const isPayment = type === 'payment'
  const inputs = fields.map((each) => {
    const seen = isPayment ? html`<span>${each.label}</span>` : ''
    const named = isPayment ? '' : html`aria-label="${each.label}"`
    return html`<label style="--width: ${each.width}">${seen}<input ${named} name="${each.name}" data-field="${each.autocomplete}" placeholder="${each.placeholder}" autocomplete="${each.autocomplete}" inputmode="numeric" maxlength="30"></label>`
  })
  return html`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${type}</title><style>${new Html(STYLE)}</style></head><body><main class="${type}" data-type="${type}">${inputs}</main><script src="/v3/elements.js"></script></body></html>`
    .text
}

// Cards at Braintree: its hosted fields, the bank's question (3-D Secure), and PayPal's button.

const NAMES = {
  number: 'card number',
  expirationDate: 'expiry date',
  cvv: 'security code',
  postalCode: 'postal code',
}

const AWAY = 'Braintree cannot be reached at the moment. Nothing was charged; please try again.'
const NOT_ASKED =
  'Your bank could not be asked. Nothing was charged; please try again, or use another card.'

/** Sentences for the person, by the code of Braintree's error. */
const WORDS = {
  HOSTED_FIELDS_FIELDS_EMPTY: 'Please enter your card.',
  HOSTED_FIELDS_FAILED_TOKENIZATION:
    'This card was not accepted. Please check it, or use another card.',
  HOSTED_FIELDS_TOKENIZATION_CVV_VERIFICATION_FAILED:
    'The security code or the postal code is not right. Please check it.',
  HOSTED_FIELDS_TOKENIZATION_NETWORK_ERROR: AWAY,
  HOSTED_FIELDS_TIMEOUT: 'The card form did not load. Please try again, or reload the page.',
  CLIENT_GATEWAY_NETWORK: AWAY,
  CLIENT_REQUEST_TIMEOUT: AWAY,
}

const OLD = 'The form was open for too long, so it was opened anew. Please enter the card again.'
const REFUSED =
  'Your bank did not confirm that this card is yours. Nothing was charged; try again, or use another card.'
const CLOSED =
  'You closed your bank’s question. Nothing was charged; try again, or use another card.'
const PAYPAL_CLOSED =
  'PayPal was closed before you agreed. Nothing was charged; try again, or use a card.'
const PAYPAL_FAILED = 'PayPal could not be used. Nothing was charged; try again, or use a card.'
const UNKNOWN = 'Cards cannot be entered at the moment. Please try again later.'

/** A sentence for the person; every other error is for developers. */
class Sentence extends Error {}

/** The account has no such thing, or none of this version: the form does without. */
const SWITCHED_OFF = [
  'THREEDS_NOT_ENABLED',
  'THREEDS_NOT_ENABLED_FOR_V2',
  'PAYPAL_NOT_ENABLED',
  'PAYPAL_SANDBOX_ACCOUNT_NOT_LINKED',
]
const orNone = (error) => {
  if (SWITCHED_OFF.includes(error.code)) return null
  throw error
}

const isExpired = (error) =>
  [error, error.details?.originalError].some(
    (each) => each?.code === 'CLIENT_AUTHORIZATION_INVALID',
  )

function describe(error) {
  if (error instanceof Sentence) return error.message
  const keys = error.details?.invalidFieldKeys
  if (keys) return `Please check the ${list(keys.map((key) => NAMES[key] ?? key))}.`
  if (error.code?.startsWith('THREEDS_')) return NOT_ASKED
  return WORDS[error.code] ?? UNKNOWN
}

const list = (words) => words.join(', ').replace(/, (?=[^,]*$)/, ' and the ')

async function fetchToken() {
  const csrf = document.querySelector('meta[name="csrf-token"]').content
  const response = await fetch('/api/billing/client-token', {
    method: 'POST',
    headers: { accept: 'application/json', 'x-csrf-token': csrf },
  }).catch(() => null)
  if (response?.ok) return (await response.json()).client_token
  const isOut = response?.status === 401 || response?.status === 403
  throw new Sentence(isOut ? 'You are no longer signed in. Please reload the page.' : UNKNOWN)
}

/** Frames are light on a light ground; in the dark their text has to be told. Both are `--text` of the stylesheet. */
const STYLES = {
  input: { 'font-size': '16px', 'font-family': 'system-ui, sans-serif', color: '#1b2130' },
  'input.dark': { color: '#e7eaf0' },
}
const dark = matchMedia('(prefers-color-scheme: dark)')

/** Tells which fields are wrong, to eyes and to screen readers, until they are changed. */
function watchFields(hosted, places) {
  const mark = (field, isWrong) => {
    places[field].classList.toggle('wrong', isWrong)
    hosted.setAttribute({ field, attribute: 'aria-invalid', value: isWrong })
    hosted.setMessage({ field, message: isWrong ? `Please check the ${NAMES[field]}.` : '' })
  }
  const paint = () => {
    for (const field of Object.keys(places)) {
      if (dark.matches) hosted.addClass(field, 'dark')
      else hosted.removeClass(field, 'dark')
    }
  }
  for (const event of ['validityChange', 'empty', 'notEmpty']) {
    hosted.on(event, ({ emittedBy }) => mark(emittedBy, false))
  }
  paint()
  dark.addEventListener('change', paint)
  return {
    mark(fields) {
      for (const field of fields) mark(field, true)
      if (fields[0]) hosted.focus(fields[0])
    },
    stop: () => dark.removeEventListener('change', paint),
  }
}

async function createFields(client, element, form) {
  const { challenges = [] } = client.getConfiguration().gatewayConfiguration
  const isAsked = ({ dataset }) =>
    dataset.field !== 'postalCode' || challenges.includes('postal_code')
  const places = {}
  for (const place of [...element.querySelectorAll('[data-field]')].filter(isAsked)) {
    // Frames of an attempt that did not succeed.
    place.replaceChildren()
    places[place.dataset.field] = place
    place.closest('[data-row]').hidden = false
  }
  const label = (place) => place.closest('[data-row]').querySelector('label').textContent
  const fields = Object.fromEntries(
    Object.entries(places).map(([field, container]) => {
      const name = label(container)
      return [field, { container, internalLabel: name, iframeTitle: name }]
    }),
  )
  const box = element.querySelector('[data-fields]')
  box.hidden = false
  // The frames load one by one. Until the last is there the Tab key passes over some, and Enter is not heard.
  box.inert = true
  const hosted = await window.braintree.hostedFields.create({ client, fields, styles: STYLES })
  hosted.on('inputSubmitRequest', () => form.requestSubmit())
  const watched = watchFields(hosted, places)
  box.inert = false
  return { hosted, ...watched }
}

/** Has the card's bank confirm it, where the account has 3-D Secure, and gives the nonce that says so. */
async function createVerification(client, element, form) {
  const { threeDSecure } = window.braintree
  const verification = await threeDSecure.create({ version: 2, client }).catch(orNone)
  if (!verification) return async ({ nonce }) => nonce
  let isClosed = false
  verification.on('customer-canceled', () => {
    isClosed = true
  })
  return async ({ nonce, details }) => {
    isClosed = false
    const amount = form.querySelector('input[name="plan"]:checked')?.dataset.amount ?? '0.00'
    const verified = await verification.verifyCard({
      nonce,
      bin: details.bin,
      amount,
      email: element.dataset.email,
      collectDeviceData: true,
      // Later charges happen without the person, so the bank is to ask now.
      challengeRequested: true,
      onLookupComplete: (_data, next) => next(),
    })
    const { liabilityShifted, liabilityShiftPossible } = verified.threeDSecureInfo
    // Possible, and not shifted: the bank said no. Not possible: it does not take part, and decides when it is charged.
    if (liabilityShiftPossible && !liabilityShifted) throw new Sentence(isClosed ? CLOSED : REFUSED)
    return verified.nonce
  }
}

let payPalScript = null

/** PayPal's button, as soon as it is there. Cards do not wait for it. */
async function offerPayPal(client, element, { send, show }) {
  const place = element.querySelector('[data-paypal]')
  const target = place.querySelector('[data-paypal-button]')
  if (!window.braintree.paypalCheckout || target.hasChildNodes()) return
  const checkout = await window.braintree.paypalCheckout.create({ client }).catch(orNone)
  if (!checkout) return
  const nonce = document.querySelector('script[nonce]').nonce
  payPalScript ??= checkout.loadPayPalSDK({ vault: true, dataAttributes: { 'csp-nonce': nonce } })
  await payPalScript
  place.hidden = false
  const buttons = window.paypal.Buttons({
    createBillingAgreement: () => checkout.createPayment({ flow: 'vault' }),
    onApprove: async (data) =>
      send((await checkout.tokenizePayment({ ...data, vault: false })).nonce),
    onCancel: () => show(new Sentence(PAYPAL_CLOSED)),
    onError: () => show(new Sentence(PAYPAL_FAILED)),
  })
  await buttons.render(target)
}

/** Opens the form; gives a function that asks for the nonce of the card in it. */
async function openCard(element, form, { send, show }) {
  const { client: api, hostedFields, threeDSecure } = window.braintree ?? {}
  if (!api || !hostedFields || !threeDSecure) throw new Error('Braintree’s scripts did not load.')
  const client = await api.create({ authorization: await fetchToken() })
  const verify = await createVerification(client, element, form)
  const fields = await createFields(client, element, form)
  offerPayPal(client, element, { send, show }).catch(() => {
    element.querySelector('[data-paypal]').hidden = true
  })
  return async () => {
    try {
      return await verify(await fields.hosted.tokenize())
    } catch (error) {
      if (isExpired(error)) {
        fields.stop()
        await fields.hosted.teardown()
        throw Object.assign(new Sentence(OLD), { isOver: true })
      }
      const isEmpty = error.code === 'HOSTED_FIELDS_FIELDS_EMPTY'
      fields.mark(error.details?.invalidFieldKeys ?? (isEmpty ? ['number'] : []))
      throw error
    }
  }
}

/** The form to type a card into, for `billing.js`. */
window.braintreeCard = async (element, form, talk) => {
  const asPerson = (error) => {
    throw Object.assign(new Error(describe(error)), { isOver: error.isOver })
  }
  const ask = await openCard(element, form, talk).catch(asPerson)
  return () => ask().catch(asPerson)
}

// The card form at Braintree: hosted fields, 3-D Secure and PayPal's button.

/** Our texts in the language of the page. */
const texts = JSON.parse(document.querySelector('[data-card-texts]').dataset.cardTexts)

/** Texts by the code of Braintree's error. */
const WORDS = {
  HOSTED_FIELDS_FIELDS_EMPTY: texts.empty,
  HOSTED_FIELDS_FAILED_TOKENIZATION: texts.refused,
  HOSTED_FIELDS_TOKENIZATION_CVV_VERIFICATION_FAILED: texts.securityCode,
  HOSTED_FIELDS_TOKENIZATION_NETWORK_ERROR: texts.away,
  HOSTED_FIELDS_TIMEOUT: texts.slow,
  CLIENT_GATEWAY_NETWORK: texts.away,
  CLIENT_REQUEST_TIMEOUT: texts.away,
}

/** A sentence for the person; every other error is for developers. */
class Sentence extends Error {}

/** Errors of a feature that the account lacks, at all or in this version. The form works without it. */
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
  if (keys) return checkFields(keys)
  if (error.code?.startsWith('THREEDS_')) return texts.bankAway
  return WORDS[error.code] ?? texts.unknown
}

/** Names the fields as their labels do. */
function checkFields(keys) {
  const names = keys.map(
    (key) => document.querySelector(`[data-row="${CSS.escape(key)}"] label`)?.textContent ?? key,
  )
  return texts.check.replace('{fields}', names.join(', '))
}

async function fetchToken() {
  const csrf = document.querySelector('meta[name="csrf-token"]').content
  const response = await fetch('/api/billing/client-token', {
    method: 'POST',
    headers: { accept: 'application/json', 'x-csrf-token': csrf },
  }).catch(() => null)
  if (response?.ok) return (await response.json()).client_token
  const isOut = response?.status === 401 || response?.status === 403
  throw new Sentence(isOut ? texts.signedOut : texts.unknown)
}

/** Text colors inside the frames, which do not inherit the scheme of the page. They equal `--text` of the stylesheet. */
const STYLES = {
  input: { 'font-size': '16px', 'font-family': 'system-ui, sans-serif', color: '#1b2130' },
  'input.dark': { color: '#e7eaf0' },
}
const dark = matchMedia('(prefers-color-scheme: dark)')

/** Marks invalid fields until they are changed, also for screen readers. */
function watchFields(hosted, places) {
  const mark = (field, isWrong) => {
    places[field].classList.toggle('wrong', isWrong)
    hosted.setAttribute({ field, attribute: 'aria-invalid', value: isWrong })
    hosted.setMessage({ field, message: isWrong ? checkFields([field]) : '' })
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
    // Remove the frames of a failed attempt.
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
  // The frames load one after another. Until the last has loaded, Tab skips some and Enter is lost.
  box.inert = true
  const hosted = await window.braintree.hostedFields.create({ client, fields, styles: STYLES })
  hosted.on('inputSubmitRequest', () => form.requestSubmit())
  const watched = watchFields(hosted, places)
  box.inert = false
  return { hosted, ...watched }
}

/** Returns a function that asks the card's bank for confirmation (3-D Secure) and returns the verified nonce. */
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
    const amount = form.querySelector('[data-amount]')?.dataset.amount ?? '0.00'
    const verified = await verification.verifyCard({
      nonce,
      bin: details.bin,
      amount,
      email: element.dataset.email,
      collectDeviceData: true,
      // Request a challenge now, because the person is not present at later charges.
      challengeRequested: true,
      onLookupComplete: (_data, next) => next(),
    })
    const { liabilityShifted, liabilityShiftPossible } = verified.threeDSecureInfo
    // Possible, and not shifted: the bank said no. Not possible: it does not take part, and decides when it is charged.
    if (liabilityShiftPossible && !liabilityShifted)
      throw new Sentence(isClosed ? texts.bankClosed : texts.bankRefused)
    return verified.nonce
  }
}

let payPalScript = null

/** Shows PayPal's button once it has loaded. The card form does not wait for it. */
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
    onCancel: () => show(new Sentence(texts.paypalClosed)),
    onError: () => show(new Sentence(texts.paypalFailed)),
  })
  await buttons.render(target)
}

/** Creates the form. Returns a function that gets the nonce of the card typed into it. */
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
        throw Object.assign(new Sentence(texts.expired), { isOver: true })
      }
      const isEmpty = error.code === 'HOSTED_FIELDS_FIELDS_EMPTY'
      fields.mark(error.details?.invalidFieldKeys ?? (isEmpty ? ['number'] : []))
      throw error
    }
  }
}

/** Creates the card form for `billing.js`, with messages for the person. */
window.braintreeCard = async (element, form, talk) => {
  const asPerson = (error) => {
    throw Object.assign(new Error(describe(error)), { isOver: error.isOver })
  }
  const ask = await openCard(element, form, talk).catch(asPerson)
  return () => ask().catch(asPerson)
}

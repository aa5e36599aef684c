import { BRAINTREE_BASE_SCRIPT } from './base.ts'
import { CARD_STATE_SCRIPT } from './card-state.ts'

/**
 * HTML of the iframe that shows one card field: an input that fills the iframe. The page sets its
 * colors and fonts with Braintree's option `styles`.
 */
export const CARD_FIELD_PAGE = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Card field</title><style>
* { margin: 0; padding: 0; box-sizing: border-box; border: none; background-color: transparent; }
body, form, input { position: absolute; top: 0; left: 0; height: 100%; width: 100%; }
label, .field-description { position: absolute; left: -9999px; }
:focus { outline: 0; }
</style></head><body><main><form novalidate action="#"></form></main><script src="/web/sandbox/js/hosted-fields-internal.js"></script></body></html>`

/**
 * JavaScript of the iframe that shows one card field. It validates the input, notifies the page,
 * and exchanges the card for a nonce. The card number is sent to the sandbox only.
 */
export const CARD_FIELD_SCRIPT = `(() => {
  'use strict'
${BRAINTREE_BASE_SCRIPT}
${CARD_STATE_SCRIPT}
  const channel = location.hash.slice(1)
  const form = document.querySelector('form')
  const tell = (tells, more) => parent.postMessage({ channel, tells, field: own && own.field, ...more }, '*')
  let own = null

  const AUTOCOMPLETE = {
    number: ['credit-card-number', 'cc-number'],
    expirationDate: ['expiration', 'cc-exp'],
    expirationMonth: ['expiration-month', 'cc-exp-month'],
    expirationYear: ['expiration-year', 'cc-exp-year'],
    cvv: ['cvv', 'cc-csc'],
    postalCode: ['postal-code', 'billing postal-code'],
    cardholderName: ['cardholder-name', 'cc-name'],
  }
  /** The properties that pages may set; Braintree ignores every other. */
  const STYLES = /^(?:-(?:moz|webkit)-(?:appearance|box-shadow|tap-highlight-color|transition)|-moz-osx-font-smoothing|-webkit-(?:font-smoothing|text-fill-color)|appearance|box-shadow|color|direction|font(?:-[a-z-]+)?|letter-spacing|line-height|(?:margin|padding)(?:-(?:top|right|bottom|left))?|opacity|outline|text-(?:align|shadow)|transition)$/

  function addStyles(styles) {
    const sheet = document.head.appendChild(document.createElement('style')).sheet
    const add = (target, rules) => {
      for (const [selector, properties] of Object.entries(rules)) {
        if (typeof properties === 'string') throw notImitated('a class name in styles')
        const at = target.insertRule(selector + ' {}', target.cssRules.length)
        if (selector.startsWith('@media')) add(target.cssRules[at], properties)
        else for (const [name, value] of Object.entries(properties)) {
          if (STYLES.test(name)) target.cssRules[at].style.setProperty(name, value)
          else console.warn('CSS property "' + name + '" is not supported')
        }
      }
    }
    add(sheet, styles)
  }

  /** The fields of one form: their frames have one origin and one address, so one can read what stands in the others. */
  function siblings() {
    const found = []
    for (let at = 0; at < parent.frames.length; at++) {
      try {
        const frame = parent.frames[at]
        if (frame.location.href === location.href && frame.hostedField) found.push(frame.hostedField)
      } catch {
        // A frame of another origin.
      }
    }
    return found
  }
  const valueOf = (field) => (siblings().find((each) => each.field === field) || { value: () => '' }).value()

  function stateNow() {
    const text = own.value()
    return {
      isEmpty: text === '',
      isFocused: document.hasFocus() && document.activeElement === own.input,
      ...VALIDITY[own.field](text, possibleCards(valueOf('number'))),
    }
  }

  /** Tells the page what has changed, as events and as the state of the field. */
  function update(names) {
    const before = own.state
    const now = stateNow()
    const events = [...names]
    if (before.isEmpty !== now.isEmpty) events.push(now.isEmpty ? 'empty' : 'notEmpty')
    const cards = own.field === 'number' ? describeCards(possibleCards(own.value())) : null
    const isOtherCard = cards && JSON.stringify(cards) !== JSON.stringify(own.cards)
    if (isOtherCard) events.push('cardTypeChange')
    if (before.isValid !== now.isValid || before.isPotentiallyValid !== now.isPotentiallyValid) {
      events.push('validityChange')
    }
    own.state = now
    own.cards = cards
    own.input.classList.toggle('valid', now.isValid)
    own.input.classList.toggle('invalid', !now.isPotentiallyValid)
    tell('changed', { events, now, cards })
    if (isOtherCard) for (const each of siblings()) if (each.field === 'cvv') each.update([])
  }

  function tellBin() {
    const bin = digitsOf(own.value()).slice(0, 6)
    if (own.field !== 'number' || bin.length < 6 || bin === own.bin) return
    own.bin = bin
    tell('bin', { bin })
  }

  function configure({ field, label, settings, styles }) {
    const [id, autocomplete] = AUTOCOMPLETE[field]
    addStyles(styles)
    const text = document.createElement('label')
    text.htmlFor = id
    text.textContent = settings.internalLabel || label
    const input = document.createElement('input')
    Object.assign(input, { id, name: id, className: field, autocomplete, placeholder: settings.placeholder || '' })
    input.type = settings.type || 'text'
    if (field !== 'cardholderName' && field !== 'postalCode') input.inputMode = 'numeric'
    if (field === 'cvv') input.maxLength = 4
    if (settings.prefill) input.value = settings.prefill
    const message = document.createElement('div')
    message.id = 'field-description-' + field
    message.className = 'field-description'
    input.setAttribute('aria-describedby', message.id)
    form.append(text, input, message)
    own = { field, input, message, value: () => input.value.trim(), update, cards: describeCards(possibleCards('')) }
    own.state = { isEmpty: true, isFocused: false, isValid: false, isPotentiallyValid: true }
    window.hostedField = own
    input.addEventListener('focus', () => update(['focus']))
    input.addEventListener('blur', () => update(['blur']))
    input.addEventListener('input', () => {
      update([])
      tellBin()
    })
    if (settings.prefill) update([])
  }

  /** The card that was typed into all fields of the form, as the API for pages takes it. */
  function typedCard({ cardholderName, billingAddress, vault }) {
    const typed = Object.fromEntries(siblings().map((each) => [each.field, each.value()]).filter(([, text]) => text !== ''))
    const { expirationDate, postalCode, ...card } = typed
    const date = expirationDate ? parseDate(expirationDate) : null
    const address = { ...billingAddress, ...(postalCode ? { postalCode } : {}) }
    return {
      ...(cardholderName ? { cardholderName } : {}),
      ...card,
      ...(date ? { expirationMonth: date.month, expirationYear: date.year } : {}),
      ...(Object.keys(address).length > 0 ? { billingAddress: address } : {}),
      options: { validate: vault === true },
    }
  }

  /** Turns a failed request into Braintree's error, by its status and the code of the first field. */
  function tokenizationFailure(error) {
    const { httpStatus, originalError } = error.details
    if (httpStatus === 403) return error
    if (httpStatus >= 500) return failure('HOSTED_FIELDS_TOKENIZATION_NETWORK_ERROR')
    const [field] = (originalError && originalError.fieldErrors) || []
    const code = field && field.fieldErrors && field.fieldErrors[0] && field.fieldErrors[0].code
    if (code === '81724') return failure('HOSTED_FIELDS_TOKENIZATION_FAIL_ON_DUPLICATE')
    if (code === '81736') return failure('HOSTED_FIELDS_TOKENIZATION_CVV_VERIFICATION_FAILED')
    const cause = { code: error.code, message: error.message, details: error.details }
    return failure('HOSTED_FIELDS_FAILED_TOKENIZATION', { originalError: cause })
  }

  async function tokenize({ authorization, ...given }) {
    const fields = siblings()
    if (fields.every((each) => each.state.isEmpty)) throw failure('HOSTED_FIELDS_FIELDS_EMPTY')
    const invalidFieldKeys = fields.filter((each) => !each.state.isValid).map((each) => each.field)
    if (invalidFieldKeys.length > 0) throw failure('HOSTED_FIELDS_FIELDS_INVALID', { invalidFieldKeys })
    const request = createRequest(parseToken(authorization))
    try {
      const data = { creditCard: typedCard(given) }
      const { creditCards } = await request({ method: 'post', endpoint: 'payment_methods/credit_cards', data })
      const { nonce, details, description, type, binData } = creditCards[0]
      return { nonce, details, description, type, binData }
    } catch (error) {
      throw tokenizationFailure(error)
    }
  }

  const DOES = {
    configure,
    tokenize,
    focus: () => own.input.focus(),
    clear: () => {
      own.input.value = ''
      update([])
    },
    addClass: (name) => own.input.classList.add(name),
    removeClass: (name) => own.input.classList.remove(name),
    setAttribute: ({ attribute, value }) => {
      if (value === null || value === undefined) own.input.removeAttribute(attribute)
      else own.input.setAttribute(attribute, value)
    },
    setMessage: (text) => {
      own.message.textContent = text
    },
  }
  window.addEventListener('message', async ({ source, data }) => {
    if (source !== parent || !data || data.channel !== channel || !DOES[data.does]) return
    const { id, does, given } = data
    try {
      const value = await DOES[does](given)
      if (id) tell('answer', { id, value })
    } catch (error) {
      if (!id) throw error
      tell('answer', { id, error: { code: error.code, details: error.details } })
    }
  })
  form.addEventListener('submit', (event) => event.preventDefault())
  form.addEventListener('keydown', (event) => event.key === 'Enter' && update(['inputSubmitRequest']))
  parent.postMessage({ channel, tells: 'ready', field: window.name.replace('braintree-hosted-field-', '') }, '*')
})()
`

/**
 * What stands in for `client.min.js`, `hosted-fields.min.js` and `dropin.min.js` of
 * js.braintreegateway.com, for tests in a browser: the calls that a page makes, over plain fields of the
 * page itself. The real ones put each field into a frame of Braintree's; nothing here is that careful.
 */
export const BROWSER_SCRIPT = `(() => {
  'use strict'
  const root = (window.braintree = window.braintree || {})
  if (root.dropin) return

  class BraintreeError extends Error {
    constructor(code, message, details) {
      super(message)
      this.name = 'BraintreeError'
      this.code = code
      this.details = details
    }
  }

  /** Promise or callback, as the caller likes. */
  const either = (run) => (options, callback) => {
    const promise = run(options || {})
    if (!callback) return promise
    promise.then((value) => callback(null, value), (error) => callback(error))
  }

  async function openClient(authorization) {
    let token
    try {
      token = JSON.parse(atob(authorization))
    } catch {
      throw new BraintreeError('INVALID_AUTHORIZATION', 'Authorization is invalid.')
    }
    const proof = { authorizationFingerprint: token.authorizationFingerprint }
    const call = async (path, body) => {
      const url = token.clientApiUrl + '/v1/' + path
      const response = body
        ? await fetch(url, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ ...proof, ...body }),
          })
        : await fetch(url + '?' + new URLSearchParams(proof))
      const answer = await response.json()
      if (response.ok) return answer
      const originalError = { ...answer, status: response.status }
      const message = (answer.error && answer.error.message) || 'The request failed.'
      throw new BraintreeError('CLIENT_REQUEST_ERROR', message, { originalError })
    }
    const gatewayConfiguration = await call('configuration')
    return {
      call,
      getVersion: () => 'sandbox',
      getConfiguration: () => ({ authorization, gatewayConfiguration }),
    }
  }

  /** A labelled field of the page. */
  function addField(parent, { id, label, autocomplete, placeholder }) {
    const input = document.createElement('input')
    input.id = id
    input.name = id
    input.autocomplete = autocomplete
    input.inputMode = 'numeric'
    input.placeholder = placeholder || ''
    if (label) {
      const text = document.createElement('label')
      text.htmlFor = id
      text.textContent = label
      parent.append(text)
    }
    parent.append(input)
    return input
  }

  const FIELDS = {
    number: { id: 'credit-card-number', label: 'Card Number', autocomplete: 'cc-number' },
    expirationDate: { id: 'expiration', label: 'Expiration Date (MM/YY)', autocomplete: 'cc-exp' },
    cvv: { id: 'cvv', label: 'CVV', autocomplete: 'cc-csc' },
    postalCode: { id: 'postal-code', label: 'Postal Code', autocomplete: 'billing postal-code' },
    cardholderName: { id: 'cardholder-name', label: 'Cardholder Name', autocomplete: 'cc-name' },
  }

  /** The nonce for what was typed in, with the name and code of the caller's own errors. */
  async function tokenizeCard(client, inputs, failure) {
    const valueOf = (name) => (inputs[name] ? inputs[name].value.trim() : '')
    if (Object.values(inputs).every((input) => input.value.trim() === '')) {
      throw new BraintreeError(failure.empty, 'All fields are empty. Cannot tokenize empty card fields.')
    }
    const creditCard = { number: valueOf('number'), expirationDate: valueOf('expirationDate') }
    for (const name of ['cvv', 'cardholderName']) {
      if (valueOf(name)) creditCard[name] = valueOf(name)
    }
    if (valueOf('postalCode')) creditCard.billingAddress = { postalCode: valueOf('postalCode') }
    try {
      const { creditCards } = await client.call('payment_methods/credit_cards', { creditCard })
      return creditCards[0]
    } catch (error) {
      throw new BraintreeError(failure.refused, 'The supplied card data failed tokenization.', {
        originalError: error,
      })
    }
  }

  root.client = { create: either(({ authorization }) => openClient(authorization)) }

  root.hostedFields = {
    create: either(async (options) => {
      const client = options.client || (await openClient(options.authorization))
      const inputs = {}
      for (const [name, field] of Object.entries(options.fields || {})) {
        const container = field.container || field.selector
        const element =
          typeof container === 'string' ? document.querySelector(container) : container
        if (!element) {
          const message = 'Selector does not reference a valid DOM node.'
          throw new BraintreeError('HOSTED_FIELDS_INVALID_FIELD_SELECTOR', message)
        }
        const known = FIELDS[name] || { id: name, autocomplete: 'off' }
        const settings = { ...known, label: '', placeholder: field.placeholder }
        inputs[name] = addField(element, settings)
        inputs[name].setAttribute('aria-label', known.label || name)
      }
      const failure = {
        empty: 'HOSTED_FIELDS_FIELDS_EMPTY',
        refused: 'HOSTED_FIELDS_FAILED_TOKENIZATION',
      }
      const tokenize = () => tokenizeCard(client, inputs, failure)
      return {
        tokenize: (given, callback) =>
          either(tokenize)(given, typeof given === 'function' ? given : callback),
        on: () => undefined,
        focus: (name) => inputs[name] && inputs[name].focus(),
        clear: (name) => {
          if (inputs[name]) inputs[name].value = ''
        },
        teardown: async () => Object.values(inputs).forEach((input) => input.remove()),
      }
    }),
  }

  root.dropin = {
    create: either(async (options) => {
      const { container, selector, authorization } = options
      const place = container || selector
      const element = typeof place === 'string' ? document.querySelector(place) : place
      if (!element) throw new BraintreeError('DropinError', 'options.container must be in the page.')
      const client = await openClient(authorization)
      const { paymentMethods } = await client.call('payment_methods')
      const form = document.createElement('fieldset')
      form.dataset.braintree = 'dropin'
      const listeners = { paymentMethodRequestable: [], noPaymentMethodRequestable: [] }
      const legend = document.createElement('legend')
      legend.textContent = 'Pay with card'
      form.append(legend)
      paymentMethods.forEach((method, at) => {
        const choice = document.createElement('input')
        choice.type = 'radio'
        choice.name = 'braintree-saved'
        choice.id = 'braintree-saved-' + at
        choice.value = String(at)
        choice.checked = method.default
        const label = document.createElement('label')
        label.htmlFor = choice.id
        label.textContent = [method.details.cardType, method.description].filter(Boolean).join(' ')
        form.append(choice, label)
      })
      const names = ['number', 'expirationDate', ...(options.card && options.card.cvv ? ['cvv'] : [])]
      const inputs = Object.fromEntries(names.map((name) => [name, addField(form, FIELDS[name])]))
      element.append(form)
      const isTyped = () => inputs.number.value.trim() !== ''
      const saved = () => {
        const chosen = form.querySelector('input[name="braintree-saved"]:checked')
        return chosen && !isTyped() ? paymentMethods[Number(chosen.value)] : null
      }
      const isRequestable = () => Boolean(isTyped() || saved())
      let was = isRequestable()
      form.addEventListener('input', () => {
        const is = isRequestable()
        if (is === was) return
        was = is
        const name = is ? 'paymentMethodRequestable' : 'noPaymentMethodRequestable'
        for (const tell of listeners[name]) tell({ type: 'CreditCard', paymentMethodIsSelected: is })
      })
      const failure = { empty: 'NO_PAYMENT_METHOD', refused: 'CARD_REFUSED' }
      const request = async () => saved() || tokenizeCard(client, inputs, failure)
      return {
        requestPaymentMethod: (given, callback) =>
          either(request)(given, typeof given === 'function' ? given : callback),
        isPaymentMethodRequestable: isRequestable,
        clearSelectedPaymentMethod: () => {
          for (const input of form.querySelectorAll('input')) {
            if (input.type === 'radio') input.checked = false
            else input.value = ''
          }
        },
        on: (name, tell) => listeners[name] && listeners[name].push(tell),
        off: () => undefined,
        teardown: async () => form.remove(),
      }
    }),
  }
})()
`

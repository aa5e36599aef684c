/** What all of the stand-ins use: errors, promises or callbacks, the client, events, and fields of the page. */
export const BASE = `
  class BraintreeError extends Error {
    constructor(code, message, details) {
      super(message)
      this.name = 'BraintreeError'
      this.code = code
      this.details = details
    }
  }

  const notImitated = (what) =>
    new BraintreeError('NOT_IMITATED', 'The sandbox does not imitate ' + what + '.')

  /** Promise or callback, as the caller likes. */
  const either = (run) => (options, callback) => {
    const promise = run(options || {})
    if (!callback) return promise
    promise.then((value) => callback(null, value), (error) => callback(error))
  }

  /** The last argument may be a callback. */
  const optional = (run) => (given, callback) =>
    typeof given === 'function' ? either(run)({}, given) : either(run)(given, callback)

  /** What is not among them is refused by its name when it is called. */
  const only = (owner, members) =>
    new Proxy(members, {
      get(target, name) {
        if (name in target || name === 'then' || typeof name === 'symbol') return target[name]
        return () => {
          throw notImitated(owner + '.' + String(name) + '()')
        }
      },
    })

  /** Refuses what an options object has beyond what is known. */
  function checkOptions(owner, options, known) {
    for (const name of Object.keys(options)) {
      if (!known.includes(name)) throw notImitated(name + ' of ' + owner)
    }
  }

  function createEvents() {
    const listeners = {}
    return {
      on(name, listener) {
        listeners[name] = [...(listeners[name] || []), listener]
      },
      off(name, listener) {
        listeners[name] = (listeners[name] || []).filter((each) => each !== listener)
      },
      emit(name, event) {
        for (const listener of listeners[name] || []) listener(event)
      },
    }
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
    return only('client', {
      call,
      getVersion: () => 'sandbox',
      getConfiguration: () => ({ authorization, gatewayConfiguration }),
      teardown: async () => undefined,
    })
  }

  const FIELDS = {
    number: { id: 'credit-card-number', label: 'Card Number', autocomplete: 'cc-number' },
    expirationDate: { id: 'expiration', label: 'Expiration Date (MM/YY)', autocomplete: 'cc-exp' },
    expirationMonth: { id: 'expiration-month', label: 'Expiration Month', autocomplete: 'cc-exp-month' },
    expirationYear: { id: 'expiration-year', label: 'Expiration Year', autocomplete: 'cc-exp-year' },
    cvv: { id: 'cvv', label: 'CVV', autocomplete: 'cc-csc' },
    postalCode: { id: 'postal-code', label: 'Postal Code', autocomplete: 'billing postal-code' },
    cardholderName: { id: 'cardholder-name', label: 'Cardholder Name', autocomplete: 'cc-name' },
  }

  /** A labelled field of the page. */
  function addField(parent, { id, label, autocomplete, placeholder }) {
    const input = document.createElement('input')
    input.id = id
    input.name = id
    input.autocomplete = autocomplete
    input.placeholder = placeholder || ''
    if (id !== 'cardholder-name' && id !== 'postal-code') input.inputMode = 'numeric'
    if (label) {
      const text = document.createElement('label')
      text.htmlFor = id
      text.textContent = label
      parent.append(text)
    }
    parent.append(input)
    return input
  }

  /** The card that was typed in, as the API for pages takes it. */
  function typedCard(inputs) {
    const card = {}
    for (const [name, input] of Object.entries(inputs)) {
      const value = input.value.trim()
      if (value === '') continue
      if (name === 'postalCode') card.billingAddress = { postalCode: value }
      else card[name] = value
    }
    return card
  }

  /** The nonce for a card, with the caller's own code for what is refused. */
  async function tokenizeCard(client, creditCard, refused) {
    try {
      const { creditCards } = await client.call('payment_methods/credit_cards', { creditCard })
      return creditCards[0]
    } catch (error) {
      throw new BraintreeError(refused, 'The supplied card data failed tokenization.', {
        originalError: error,
      })
    }
  }

  const isEmptyForm = (inputs) =>
    Object.values(inputs).every((input) => input.value.trim() === '')
`

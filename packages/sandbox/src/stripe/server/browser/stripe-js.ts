import { STRIPE_JS_FIELDS_PART } from './page-fields.ts'
import { STRIPE_JS_INTENTS_PART } from './page-intents.ts'

/**
 * JavaScript that replaces Stripe.js in browser tests, with its functions for cards. As with the
 * real Stripe.js, cards are typed into an iframe, so the page never sees the card number.
 */
export const STRIPE_JS_SCRIPT = `(() => {
  'use strict'
  if (window.Stripe) return
  const base = new URL(document.currentScript.src).origin

  class IntegrationError extends Error {
    constructor(message) {
      super(message)
      this.name = 'IntegrationError'
    }
  }

  /** Encodes parameters as the API expects them: 'a[b][0]=c'. */
  function toForm(params) {
    const form = new URLSearchParams()
    const add = (name, value) => {
      if (value === undefined || value === null) return
      if (typeof value !== 'object') return form.append(name, String(value))
      for (const [key, part] of Object.entries(value)) add(name === '' ? key : name + '[' + key + ']', part)
    }
    add('', params)
    return form
  }

  async function callApi(key, method, path, params) {
    const form = toForm({ ...params, key })
    const url = base + '/v1/' + path
    try {
      const response = await (method === 'GET' ? fetch(url + '?' + form) : fetch(url, { method, body: form }))
      const answer = await response.json()
      return response.ok ? answer : { error: answer.error }
    } catch {
      const message = 'We could not reach the sandbox. Please check your connection and try again.'
      return { error: { type: 'api_connection_error', message } }
    }
  }

${STRIPE_JS_FIELDS_PART}

${STRIPE_JS_INTENTS_PART}

  function createStripe(key) {
    const groups = new WeakMap()
    const payments = createIntents(key, 'payment_intent')
    const setups = createIntents(key, 'setup_intent')

    const requireGroup = (elements) => {
      const group = groups.get(elements)
      if (!group) throw new IntegrationError('Please pass the Elements object that this Stripe object made.')
      return group
    }

    /** Returns a card's parameters for the API. A card typed into an element becomes a token first. */
    async function cardOf(card, given) {
      if (!(card instanceof Element)) return { card }
      const { token, error } = await card.tokenize(given)
      return error ? { error } : { card: { token: token.id } }
    }

    const addressOf = ({ billing_details: details } = {}) =>
      details && details.name ? { name: details.name } : {}

    async function confirmCard(intents, secret, data, options) {
      const handles = !options || options.handleActions !== false
      const { payment_method: method, ...rest } = data || {}
      if (method === undefined) {
        const intent = await intents.retrieve(secret)
        if (intent.error || intent.status === 'requires_action') {
          return handles || intent.error ? intents.act(intent) : { [intents.name]: intent }
        }
        return intents.confirm(secret, rest, handles)
      }
      if (typeof method === 'string') return intents.confirm(secret, { ...rest, payment_method: method }, handles)
      const { card, error } = await cardOf(method.card, addressOf(method))
      if (error) return { error }
      return intents.confirm(secret, { ...rest, payment_method_data: { type: 'card', ...method, card } }, handles)
    }

    /** Implements confirmPayment and confirmSetup: submits the payment element, then redirects to return_url. */
    async function confirmElements(intents, caller, options) {
      const { elements, redirect, confirmParams = {} } = options
      const group = elements ? requireGroup(elements) : null
      const secret = options.clientSecret || (group && group.options.clientSecret)
      const url = confirmParams.return_url
      if (!secret) throw new IntegrationError('stripe.' + caller + '(): a clientSecret is required.')
      if (redirect !== 'if_required' && !url) {
        throw new IntegrationError('stripe.' + caller + "(): the confirmParams.return_url argument is required unless passing redirect: 'if_required'.")
      }
      const params = { ...confirmParams }
      if (group) {
        if (!group.options.clientSecret && !group.isSubmitted) {
          throw new IntegrationError('elements.submit() must be called before stripe.' + caller + '().')
        }
        const { card, error } = await cardOf(group.fieldOf(), addressOf(params.payment_method_data))
        if (error) return { error }
        params.payment_method_data = { ...params.payment_method_data, type: 'card', card }
      }
      const result = await intents.confirm(secret, params, true)
      if (result.error || redirect === 'if_required') return result
      const back = new URL(url)
      const intent = result[intents.name]
      back.searchParams.set(intent.object, intent.id)
      back.searchParams.set(intent.object + '_client_secret', secret)
      back.searchParams.set('redirect_status', intent.status === 'succeeded' ? 'succeeded' : 'pending')
      location.assign(back)
      return never()
    }

    const shown = (intents) => async (secret) => {
      const intent = await intents.retrieve(secret)
      return intent.error ? { error: intent.error } : { [intents.name]: intent }
    }

    const stripe = {
      elements(options = {}) {
        const group = createGroup(key, { ...options })
        groups.set(group.shown, group)
        return group.shown
      },
      async createToken(element, data) {
        if (!(element instanceof Element)) throw new IntegrationError('The sandbox makes tokens of cards only.')
        return element.tokenize(data)
      },
      async createPaymentMethod(given) {
        const { elements, params, ...rest } = given
        const data = elements ? { ...params, type: 'card' } : rest
        const field = elements ? requireGroup(elements).fieldOf() : data.card
        const { card, error } = await cardOf(field, addressOf(data))
        if (error) return { error }
        const paymentMethod = await callApi(key, 'POST', 'payment_methods', { ...data, card })
        return paymentMethod.error ? { error: paymentMethod.error } : { paymentMethod }
      },
      confirmCardPayment: (secret, data, options) => confirmCard(payments, secret, data, options),
      confirmCardSetup: (secret, data, options) => confirmCard(setups, secret, data, options),
      confirmPayment: async (options) => confirmElements(payments, 'confirmPayment', options),
      confirmSetup: async (options) => confirmElements(setups, 'confirmSetup', options),
      handleCardAction: async (secret) => payments.act(await payments.retrieve(secret)),
      async handleNextAction({ clientSecret }) {
        const intents = clientSecret.startsWith('seti_') ? setups : payments
        return intents.act(await intents.retrieve(clientSecret))
      },
      retrievePaymentIntent: shown(payments),
      retrieveSetupIntent: shown(setups),
      async redirectToCheckout({ sessionId }) {
        if (!sessionId) throw new IntegrationError('The sandbox opens checkouts by their sessionId only.')
        location.assign(base + '/pages/checkout/' + encodeURIComponent(sessionId))
        return never()
      },
      registerAppInfo: () => undefined,
      _registerWrapper: () => undefined,
    }
    return new Proxy(stripe, {
      get(target, name) {
        if (name in target || !/^(?:confirm|create|handle|verify|collect|process|retrieve|update|init|payment)[A-Za-z0-9]+$/.test(String(name))) {
          return target[name]
        }
        return async () => {
          throw new IntegrationError('The sandbox does not imitate stripe.' + String(name) + '().')
        }
      },
    })
  }

  window.Stripe = function Stripe(key) {
    if (typeof key !== 'string' || key === '') throw new IntegrationError('Please call Stripe() with your publishable key. You used an empty string.')
    if (!key.startsWith('pk_')) throw new IntegrationError('You should not use your secret key with Stripe.js. Please pass a publishable key instead.')
    return createStripe(key)
  }
  window.Stripe.version = 'endive'
})()
`

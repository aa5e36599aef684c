/**
 * What stands in for `js.stripe.com`, for tests in a browser: the calls that a page makes about cards.
 * As with the real one a card is typed into a frame of the sandbox's, so the page never sees its number.
 */
export const STRIPE_JS = String.raw`(() => {
  'use strict'
  if (window.Stripe) return
  const base = new URL(document.currentScript.src).origin

  class IntegrationError extends Error {
    constructor(message) {
      super(message)
      this.name = 'IntegrationError'
    }
  }

  /** 'a[b][0]=c', as the API reads it. */
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

  const TITLES = {
    card: 'Secure card payment input frame',
    cardNumber: 'Secure card number input frame',
    cardExpiry: 'Secure expiration date input frame',
    cardCvc: 'Secure CVC input frame',
    payment: 'Secure payment input frame',
  }

  let made = 0

  /** A field, or several, in a frame of the sandbox's. */
  class Element {
    constructor(group, type, options) {
      this.group = group
      this.type = type
      this.options = options || {}
      this.listeners = []
      this.waiting = new Map()
      this.frame = null
      this.hear = (event) => this.receive(event)
    }
    mount(target) {
      const place = typeof target === 'string' ? document.querySelector(target) : target
      if (!place) {
        throw new IntegrationError('The selector you specified (' + target + ') applies to no DOM elements that are currently on the page.')
      }
      this.unmount()
      const scheme = getComputedStyle(place).colorScheme
      const settings = {
        group: this.group.number,
        scheme: scheme.includes('dark') ? scheme : 'light',
        hidePostalCode: Boolean(this.options.hidePostalCode),
        disabled: Boolean(this.options.disabled),
        placeholder: this.options.placeholder || '',
        key: this.group.key,
      }
      const frame = document.createElement('iframe')
      frame.title = TITLES[this.type]
      frame.name = '__privateStripeFrame' + ++made
      frame.src = base + '/v3/elements/' + this.type + '#' + encodeURIComponent(JSON.stringify(settings))
      Object.assign(frame.style, { border: '0', width: '100%', height: '2.4em', display: 'block', colorScheme: settings.scheme })
      this.ready = new Promise((resolve) => {
        this.becomesReady = resolve
      })
      window.addEventListener('message', this.hear)
      place.replaceChildren(frame)
      place.classList.add('StripeElement', 'StripeElement--empty')
      this.frame = frame
      this.place = place
      return this
    }
    unmount() {
      if (!this.frame) return
      window.removeEventListener('message', this.hear)
      this.place.classList.remove(...CLASSES)
      this.frame.remove()
      this.frame = null
    }
    destroy() {
      this.unmount()
      this.group.elements.delete(this.type)
    }
    on(name, tell) {
      this.listeners.push({ name, tell })
      return this
    }
    once(name, tell) {
      const first = (event) => {
        this.off(name, first)
        tell(event)
      }
      return this.on(name, first)
    }
    off(name, tell) {
      this.listeners = this.listeners.filter((each) => each.name !== name || (tell && each.tell !== tell))
      return this
    }
    update(options) {
      Object.assign(this.options, options)
      if (options && 'disabled' in options) this.send('disable', Boolean(options.disabled))
      return this
    }
    focus() {
      this.send('focus')
    }
    blur() {
      this.send('blur')
    }
    clear() {
      this.send('clear')
    }
    collapse() {
      return this
    }
    getValue() {
      throw new IntegrationError('Only an address element has a value that a page may read.')
    }
    tell(name, event) {
      for (const each of [...this.listeners]) if (each.name === name) each.tell({ elementType: this.type, ...event })
    }
    receive({ source, origin, data }) {
      if (!this.frame || source !== this.frame.contentWindow || origin !== base) return
      if (data.answers !== undefined) {
        this.waiting.get(data.answers)(data.answer)
        this.waiting.delete(data.answers)
        return
      }
      if (data.name === 'height') {
        this.frame.style.height = data.event + 'px'
        return
      }
      if (data.name === 'enter') {
        const form = this.place.closest('form')
        if (form) form.requestSubmit()
        return
      }
      if (data.name === 'ready') this.becomesReady()
      if (data.name === 'change') {
        const { empty, complete, error } = data.event
        this.place.classList.toggle('StripeElement--empty', empty)
        this.place.classList.toggle('StripeElement--complete', complete)
        this.place.classList.toggle('StripeElement--invalid', Boolean(error))
      }
      if (data.name === 'focus') this.place.classList.add('StripeElement--focus')
      if (data.name === 'blur') this.place.classList.remove('StripeElement--focus')
      this.tell(data.name, data.event)
    }
    async send(does, given) {
      if (!this.frame) return undefined
      await this.ready
      return new Promise((resolve) => {
        const id = ++made
        this.waiting.set(id, resolve)
        this.frame.contentWindow.postMessage({ id, does, given }, base)
      })
    }
    /** '{ token }' or '{ error }'. */
    tokenize(given) {
      if (!this.frame) {
        throw new IntegrationError('We could not retrieve data from the specified Element. Please make sure the Element you are attempting to use is still mounted.')
      }
      return this.send('tokenize', given || {})
    }
  }

  const CLASSES = ['', '--empty', '--complete', '--invalid', '--focus'].map((end) => 'StripeElement' + end)

  function createGroup(key, options) {
    const elements = new Map()
    const group = { key, options, elements, number: ++made, isSubmitted: false }
    group.fieldOf = () => elements.get('payment') || elements.get('card') || elements.get('cardNumber')
    group.shown = {
      create(type, settings) {
        if (!TITLES[type]) throw new IntegrationError('The sandbox does not imitate the element "' + type + '".')
        if (elements.has(type)) throw new IntegrationError('Can only create one Element of type ' + type + '.')
        if (type === 'payment' && !options.clientSecret && !options.mode) {
          throw new IntegrationError('In order to create a payment element, you must pass a clientSecret or mode when creating the Elements group.')
        }
        const element = new Element(group, type, settings)
        elements.set(type, element)
        return element
      },
      getElement: (type) => elements.get(typeof type === 'string' ? type : type.__elementType) || null,
      update: async (settings) => void Object.assign(options, settings),
      on: () => undefined,
      off: () => undefined,
      fetchUpdates: async () => ({}),
      submit: async () => {
        const field = group.fieldOf()
        if (!field) throw new IntegrationError('elements should have a mounted Payment Element or Express Checkout Element.')
        const { error } = await field.send('validate')
        group.isSubmitted = !error
        return error ? { error } : { selectedPaymentMethod: 'card' }
      },
    }
    return group
  }

  /** Shows the bank's page over the page until it has its answer, or the person gives up. */
  function askBank(url) {
    return new Promise((resolve) => {
      const dialog = document.createElement('dialog')
      dialog.setAttribute('aria-label', '3-D Secure')
      Object.assign(dialog.style, { width: 'min(30rem, 94vw)', padding: '0', border: '0', borderRadius: '.75rem', overflow: 'hidden' })
      const frame = document.createElement('iframe')
      frame.title = '3D Secure challenge'
      frame.name = '__stripeJSChallengeFrame' + ++made
      Object.assign(frame.style, { border: '0', width: '100%', height: '22rem', display: 'block' })
      const cancel = document.createElement('button')
      cancel.type = 'button'
      cancel.textContent = 'Cancel'
      cancel.style.margin = '.75rem'
      let loads = 0
      const end = () => {
        dialog.remove()
        resolve()
      }
      const refuse = async () => {
        cancel.disabled = true
        await fetch(url, { method: 'POST', mode: 'no-cors', body: new URLSearchParams({ answer: 'fail' }) })
        end()
      }
      // Its first page asks; the next one says what was answered.
      frame.addEventListener('load', () => ++loads > 1 && end())
      cancel.addEventListener('click', refuse)
      dialog.addEventListener('cancel', (event) => {
        event.preventDefault()
        refuse()
      })
      frame.src = url
      dialog.append(frame, cancel)
      document.body.append(dialog)
      dialog.showModal()
    })
  }

  const NOUNS = {
    payment_intent: { path: 'payment_intents/', name: 'paymentIntent' },
    setup_intent: { path: 'setup_intents/', name: 'setupIntent' },
  }
  const never = () => new Promise(() => {})

  /** What happens to an intent whose client secret the page has. */
  function createIntents(key, kind) {
    const { path, name } = NOUNS[kind]
    const pathOf = (secret) => {
      const id = /^((?:pi|seti)_\w+)_secret_\w+$/.exec(secret)
      if (!id) throw new IntegrationError('Invalid value for ' + name + ' secret: value should be a client_secret string.')
      return path + id[1]
    }
    const retrieve = (secret) => callApi(key, 'GET', pathOf(secret), { client_secret: secret })
    const settle = (intent) => {
      const error = intent.last_payment_error || intent.last_setup_error
      if (intent.status !== 'requires_payment_method' || !error) return { [name]: intent }
      return { error: { ...error, [kind]: intent } }
    }
    const act = async (intent) => {
      const action = intent.next_action
      if (intent.error) return { error: intent.error }
      if (intent.status !== 'requires_action' || !action) return settle(intent)
      if (action.redirect_to_url) {
        location.assign(action.redirect_to_url.url)
        return never()
      }
      await askBank(action.use_stripe_sdk.stripe_js)
      const after = await retrieve(intent.client_secret)
      return after.error ? { error: after.error } : settle(after)
    }
    const confirm = async (secret, params, handles) => {
      const given = { ...params, client_secret: secret, use_stripe_sdk: true }
      const intent = await callApi(key, 'POST', pathOf(secret) + '/confirm', given)
      if (intent.error) return { error: intent.error }
      return handles ? act(intent) : { [name]: intent }
    }
    return { retrieve, settle, act, confirm, name }
  }

  function createStripe(key) {
    const groups = new WeakMap()
    const payments = createIntents(key, 'payment_intent')
    const setups = createIntents(key, 'setup_intent')

    const requireGroup = (elements) => {
      const group = groups.get(elements)
      if (!group) throw new IntegrationError('Please pass the Elements object that this Stripe object made.')
      return group
    }

    /** A card as the API takes it: what was typed in becomes a token first. */
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

    /** confirmPayment and confirmSetup: whatever the payment element holds, and then to return_url. */
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

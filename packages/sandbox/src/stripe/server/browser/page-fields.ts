/**
 * Part of the replacement for Stripe.js (`stripe-js.ts`): the fields that a page creates and
 * mounts. Each is an iframe of the sandbox (`element-frame.ts`), so as with the real Stripe.js, the
 * page never sees card numbers.
 */
export const STRIPE_JS_FIELDS_PART = `  const TITLES = {
    card: 'Secure card payment input frame',
    cardNumber: 'Secure card number input frame',
    cardExpiry: 'Secure expiration date input frame',
    cardCvc: 'Secure CVC input frame',
    payment: 'Secure payment input frame',
  }

  let made = 0

  /** One or several fields in a frame of the sandbox. */
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
    /** Resolves with '{ token }' or '{ error }'. */
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
  }`

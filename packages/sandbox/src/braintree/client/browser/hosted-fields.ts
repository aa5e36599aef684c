/**
 * JavaScript that replaces `braintree.hostedFields` in a page. Each card field is an iframe served
 * by the sandbox (`field-frame.ts`), so the page never sees a card number. The page only learns
 * whether a field is empty or valid, and receives a nonce.
 */
export const HOSTED_FIELDS_SCRIPT = `
  const LABELS = {
    number: 'Credit Card Number',
    expirationDate: 'Expiration Date',
    expirationMonth: 'Expiration Month',
    expirationYear: 'Expiration Year',
    cvv: 'CVV',
    postalCode: 'Postal Code',
    cardholderName: 'Cardholder Name',
  }
  const FIELD_OPTIONS = ['container', 'selector', 'placeholder', 'iframeTitle', 'internalLabel', 'prefill', 'type']
  const ATTRIBUTES = ['aria-invalid', 'aria-required', 'disabled', 'placeholder']
  const CLASS = 'braintree-hosted-fields-'

  function placeOf(key, field) {
    if (!LABELS[key]) {
      const message = '"' + key + '" is not a valid field.'
      throw failure('HOSTED_FIELDS_INVALID_FIELD_KEY', undefined, message)
    }
    checkOptions('the field ' + key, field, FIELD_OPTIONS)
    const given = field.container || field.selector
    const element = typeof given === 'string' ? document.querySelector(given) : given
    const details = { fieldSelector: field.selector, fieldContainer: field.container, fieldKey: key }
    if (!element || element.nodeType !== 1) throw failure('HOSTED_FIELDS_INVALID_FIELD_SELECTOR', details)
    if (element.querySelector('iframe[name^="braintree-"]')) {
      throw failure('HOSTED_FIELDS_FIELD_DUPLICATE_IFRAME', details)
    }
    return element
  }

  /** A frame that fills its container, whose height is the page's to say. */
  function addFrame(key, field, container, url) {
    const frame = document.createElement('iframe')
    frame.name = 'braintree-hosted-field-' + key
    frame.title = field.iframeTitle || 'Secure Credit Card Frame - ' + LABELS[key]
    frame.setAttribute('type', key)
    Object.assign(frame.style, { border: 'none', width: '100%', height: '100%', float: 'left' })
    frame.src = url
    const clear = document.createElement('div')
    clear.style.clear = 'both'
    container.append(frame, clear)
    return { frame, clear, container }
  }

  const labelsOf = (container) =>
    [...document.querySelectorAll('label')].filter((label) =>
      label.htmlFor ? label.htmlFor === container.id : label.contains(container),
    )

  function createFields(options, client) {
    const { authorization, gatewayConfiguration } = client.getConfiguration()
    const { origin } = new URL(gatewayConfiguration.assetsUrl)
    const channel = crypto.randomUUID ? crypto.randomUUID() : String(Math.random()).slice(2)
    const url = origin + '/web/' + VERSION + '/html/hosted-fields-frame.min.html#' + channel
    const events = createEvents()
    const fields = {}
    const state = { cards: describeCards(possibleCards('')), fields: {} }
    const waiting = new Map()
    let asked = 0
    let becomeReady
    const ready = new Promise((resolve) => {
      becomeReady = resolve
    })

    const send = (key, message) => fields[key].frame.contentWindow.postMessage({ channel, ...message }, origin)
    const tell = (key, does, given) => send(key, { does, given })
    const ask = (key, does, given) =>
      new Promise((resolve, reject) => {
        waiting.set(++asked, { resolve, reject })
        send(key, { does, given, id: asked })
      })

    const READERS = {
      ready({ field }) {
        const { container: _, selector: __, ...settings } = options.fields[field]
        tell(field, 'configure', { field, label: LABELS[field], settings, styles: options.styles || {} })
        fields[field].isReady = true
        if (Object.values(fields).every((each) => each.isReady)) becomeReady()
      },
      changed({ field, events: names, now, cards }) {
        Object.assign(state.fields[field], now)
        if (cards) state.cards = cards
        const { classList } = fields[field].container
        classList.toggle(CLASS + 'focused', now.isFocused)
        classList.toggle(CLASS + 'valid', now.isValid)
        classList.toggle(CLASS + 'invalid', !now.isPotentiallyValid)
        for (const name of names) events.emit(name, { ...state, emittedBy: field })
      },
      bin: ({ bin }) => events.emit('binAvailable', { bin }),
      answer({ id, value, error }) {
        const { resolve, reject } = waiting.get(id)
        waiting.delete(id)
        if (error) reject(failure(error.code, error.details))
        else resolve(value)
      },
    }
    const hear = ({ origin: from, data }) => {
      if (from === origin && data && data.channel === channel) READERS[data.tells](data)
    }
    window.addEventListener('message', hear)

    const labels = []
    const entries = Object.entries(options.fields)
    for (const [key, field] of entries) {
      const container = placeOf(key, field)
      fields[key] = addFrame(key, field, container, url)
      state.fields[key] = { container, isEmpty: true, isValid: false, isPotentiallyValid: true, isFocused: false }
      for (const label of labelsOf(container)) {
        const focus = () => focusField(key)
        label.addEventListener('click', focus)
        labels.push([label, focus])
      }
    }
    const focusField = (key) => {
      fields[key].frame.focus()
      tell(key, 'focus')
    }
    const requireField = (key) => {
      if (fields[key]) return key
      const code = LABELS[key] ? 'HOSTED_FIELDS_FIELD_NOT_PRESENT' : 'HOSTED_FIELDS_FIELD_INVALID'
      throw failure(code, undefined, '"' + key + '" is not a field of this page.')
    }
    const requireAttribute = (name) => {
      if (ATTRIBUTES.includes(name)) return name
      throw failure('HOSTED_FIELDS_ATTRIBUTE_NOT_SUPPORTED', undefined, 'The "' + name + '" attribute is not supported.')
    }
    const tokenize = async (given = {}) => {
      checkOptions('tokenize()', given, ['cardholderName', 'billingAddress', 'vault'])
      try {
        return await ask(entries[0][0], 'tokenize', { ...given, authorization })
      } catch (error) {
        const { invalidFieldKeys } = error.details || {}
        if (invalidFieldKeys) {
          error.details.invalidFields = Object.fromEntries(
            invalidFieldKeys.map((key) => [key, fields[key].container]),
          )
        }
        throw error
      }
    }
    const setAttribute = ({ field, attribute, value }) =>
      tell(requireField(field), 'setAttribute', { attribute: requireAttribute(attribute), value })
    const members = {
      on: events.on,
      off: events.off,
      getState: () => state,
      tokenize: either(tokenize),
      focus: either((key) => focusField(requireField(key))),
      clear: either((key) => tell(requireField(key), 'clear')),
      addClass: either((key, name) => tell(requireField(key), 'addClass', name)),
      removeClass: either((key, name) => tell(requireField(key), 'removeClass', name)),
      setAttribute: either(setAttribute),
      removeAttribute: either(({ field, attribute }) => setAttribute({ field, attribute, value: null })),
      setPlaceholder: either((field, value) => setAttribute({ field, attribute: 'placeholder', value })),
      setMessage: ({ field, message }) => tell(requireField(field), 'setMessage', message),
      getChallenges: either(() => gatewayConfiguration.challenges),
      getSupportedCardTypes: either(() => gatewayConfiguration.creditCards.supportedCardTypes),
    }
    const instance = component('hostedFields', members, () => {
      window.removeEventListener('message', hear)
      for (const [label, focus] of labels) label.removeEventListener('click', focus)
      for (const { frame, clear, container } of Object.values(fields)) {
        frame.remove()
        clear.remove()
        container.classList.remove(CLASS + 'focused', CLASS + 'valid', CLASS + 'invalid')
      }
    })
    return ready.then(() => instance)
  }

  const SETUP_MS = 60_000

  root.hostedFields = {
    VERSION,
    supportsInputFormatting: () => true,
    create: either(async (options = {}) => {
      checkOptions('hostedFields.create()', options, ['authorization', 'client', 'fields', 'styles', 'preventAutofill'])
      const client = await clientOf(options)
      if (Object.keys(options.fields || {}).length === 0) {
        const message = 'options.fields is required when instantiating Hosted Fields.'
        throw failure('INSTANTIATION_OPTION_REQUIRED', undefined, message)
      }
      const late = new Promise((_, reject) => {
        setTimeout(() => reject(failure('HOSTED_FIELDS_TIMEOUT')), SETUP_MS)
      })
      return Promise.race([createFields(options, client), late])
    }),
  }
`

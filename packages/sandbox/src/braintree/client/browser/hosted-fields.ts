/** `braintree.hostedFields`: fields wherever the page wants them, with their states and events. */
export const HOSTED_FIELDS = `
  const TOKENIZE = ['cardholderName', 'billingAddress', 'vault']

  function placeOf(field) {
    const container = field.container || field.selector
    const element = typeof container === 'string' ? document.querySelector(container) : container
    if (element) return element
    throw new BraintreeError(
      'HOSTED_FIELDS_INVALID_FIELD_SELECTOR',
      'Selector does not reference a valid DOM node.',
    )
  }

  function placeFields(wanted) {
    const inputs = {}
    for (const [name, field] of Object.entries(wanted)) {
      if (!FIELDS[name]) {
        const message = '"' + name + '" is not a valid field.'
        throw new BraintreeError('HOSTED_FIELDS_INVALID_FIELD_KEY', message)
      }
      const settings = { ...FIELDS[name], label: '', placeholder: field.placeholder }
      inputs[name] = addField(placeOf(field), settings)
      inputs[name].setAttribute('aria-label', FIELDS[name].label)
    }
    return inputs
  }

  /** What a page may know of the fields: never what is in them. */
  function stateOf(inputs) {
    const possible = possibleCards(inputs.number ? inputs.number.value : '')
    const fields = Object.fromEntries(
      Object.entries(inputs).map(([name, input]) => [
        name,
        {
          container: input.parentElement,
          isEmpty: input.value.trim() === '',
          isFocused: document.activeElement === input,
          ...VALIDITY[name](input.value.trim(), possible),
        },
      ]),
    )
    const cards = possible.map(({ type, niceType, code: [name, size] }) => ({
      type,
      niceType,
      code: { name, size },
    }))
    return { cards, fields }
  }

  const CLASS = 'braintree-hosted-fields-'

  function markField({ container, isFocused, isValid, isPotentiallyValid }) {
    if (!container) return
    container.classList.toggle(CLASS + 'focused', isFocused)
    container.classList.toggle(CLASS + 'valid', isValid)
    container.classList.toggle(CLASS + 'invalid', !isPotentiallyValid)
  }

  function watchFields(inputs, events) {
    let before = stateOf(inputs)
    const tell = (type, name, state) => events.emit(type, { ...state, emittedBy: name })
    const update = (name, types) => {
      const state = stateOf(inputs)
      const [old, is] = [before.fields[name], state.fields[name]]
      const oldCards = before.cards.map((card) => card.type).join()
      before = state
      markField(is)
      for (const type of types) tell(type, name, state)
      if (old.isEmpty !== is.isEmpty) tell(is.isEmpty ? 'empty' : 'notEmpty', name, state)
      if (oldCards !== state.cards.map((card) => card.type).join()) {
        tell('cardTypeChange', name, state)
      }
      if (old.isValid !== is.isValid || old.isPotentiallyValid !== is.isPotentiallyValid) {
        tell('validityChange', name, state)
      }
    }
    for (const [name, input] of Object.entries(inputs)) {
      input.addEventListener('focus', () => update(name, ['focus']))
      input.addEventListener('blur', () => update(name, ['blur']))
      input.addEventListener('input', () => update(name, []))
      input.addEventListener('keydown', (event) => {
        if (event.key !== 'Enter') return
        event.preventDefault()
        update(name, ['inputSubmitRequest'])
      })
    }
    return update
  }

  function requireValid(inputs) {
    if (isEmptyForm(inputs)) {
      throw new BraintreeError(
        'HOSTED_FIELDS_FIELDS_EMPTY',
        'All fields are empty. Cannot tokenize empty card fields.',
      )
    }
    const { fields } = stateOf(inputs)
    const invalidFieldKeys = Object.keys(fields).filter((name) => !fields[name].isValid)
    if (invalidFieldKeys.length === 0) return
    const invalidFields = Object.fromEntries(
      invalidFieldKeys.map((name) => [name, fields[name].container]),
    )
    throw new BraintreeError(
      'HOSTED_FIELDS_FIELDS_INVALID',
      'Some payment input fields are invalid. Cannot tokenize invalid card fields.',
      { invalidFieldKeys, invalidFields },
    )
  }

  root.hostedFields = {
    create: either(async (options) => {
      checkOptions('hostedFields.create()', options, ['authorization', 'client', 'fields', 'styles'])
      const client = options.client || (await openClient(options.authorization))
      const inputs = placeFields(options.fields || {})
      const events = createEvents()
      const update = watchFields(inputs, events)
      const tokenize = async (given) => {
        checkOptions('tokenize()', given, TOKENIZE)
        requireValid(inputs)
        const typed = typedCard(inputs)
        const name = typed.cardholderName || given.cardholderName
        const billingAddress = { ...given.billingAddress, ...typed.billingAddress }
        const card = {
          ...typed,
          ...(name ? { cardholderName: name } : {}),
          ...(Object.keys(billingAddress).length > 0 ? { billingAddress } : {}),
          options: { validate: given.vault === true },
        }
        return tokenizeCard(client, card, 'HOSTED_FIELDS_FAILED_TOKENIZATION')
      }
      const inputOf = (name) => {
        if (inputs[name]) return inputs[name]
        const message = '"' + name + '" is not a field of this page.'
        throw new BraintreeError('HOSTED_FIELDS_FIELD_INVALID', message)
      }
      return only('hostedFields', {
        tokenize: optional(tokenize),
        on: events.on,
        off: events.off,
        getState: () => stateOf(inputs),
        focus: (name) => inputOf(name).focus(),
        clear: (name) => {
          inputOf(name).value = ''
          update(name, [])
        },
        setPlaceholder: (name, text) => {
          inputOf(name).placeholder = text
        },
        addClass: (name, text) => inputOf(name).classList.add(text),
        removeClass: (name, text) => inputOf(name).classList.remove(text),
        setAttribute: ({ field, attribute, value }) =>
          inputOf(field).setAttribute(attribute, value),
        removeAttribute: ({ field, attribute }) => inputOf(field).removeAttribute(attribute),
        teardown: async () => Object.values(inputs).forEach((input) => input.remove()),
      })
    }),
  }
`

/** `braintree.dropin`: one form with the saved methods and a new card. */
export const DROP_IN = `
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
      const events = createEvents()
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
      const update = () => {
        const is = isRequestable()
        if (is === was) return
        was = is
        if (is) {
          const event = { type: 'CreditCard', paymentMethodIsSelected: Boolean(saved()) }
          events.emit('paymentMethodRequestable', event)
        } else events.emit('noPaymentMethodRequestable')
      }
      form.addEventListener('input', update)
      const request = async (given) => {
        checkOptions('requestPaymentMethod()', given, [])
        if (saved()) return saved()
        if (isEmptyForm(inputs)) {
          throw new BraintreeError('NO_PAYMENT_METHOD', 'No payment method is available.')
        }
        return tokenizeCard(client, typedCard(inputs), 'CARD_REFUSED')
      }
      return only('dropin', {
        requestPaymentMethod: optional(request),
        isPaymentMethodRequestable: isRequestable,
        clearSelectedPaymentMethod: () => {
          for (const input of form.querySelectorAll('input')) {
            if (input.type === 'radio') input.checked = false
            else input.value = ''
          }
          update()
        },
        on: events.on,
        off: events.off,
        teardown: async () => form.remove(),
      })
    }),
  }
`

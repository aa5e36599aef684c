// Billing forms: prevents sending one twice, and lets the provider's own script take cards.

/** Disables the buttons of a form while it is being sent, against double clicks. */
for (const form of document.querySelectorAll('form[data-once]')) {
  form.addEventListener('submit', (event) => {
    // Not before the form is sent, because browsers leave out the value of a disabled button.
    setTimeout(() => event.defaultPrevented || setButtons(form, true))
  })
}
// The browser may restore the page from its back/forward cache with disabled buttons.
window.addEventListener('pageshow', (event) => {
  if (!event.persisted) return
  for (const form of document.querySelectorAll('form[data-once]')) setButtons(form, false)
})

function setButtons(form, disabled) {
  for (const button of form.querySelectorAll('button')) button.disabled = disabled
}

/** Shows what a choice of plan, quantity or code costs, and names the amount on the button. */
for (const form of document.querySelectorAll('form[data-priced]')) {
  let latest = 0
  form.addEventListener('change', async ({ target }) => {
    if (!['plan', 'quantity', 'coupon'].includes(target.name)) return
    latest += 1
    const mine = latest
    // The button names the old amount until the new one is known.
    setButtons(form, true)
    try {
      const choice = new URLSearchParams(new FormData(form))
      for (const name of ['token', 'shown']) choice.delete(name)
      const response = await fetch(`${billingPath}/price`, { method: 'POST', body: choice })
      const page = new DOMParser().parseFromString(await response.text(), 'text/html')
      if (mine === latest) showPrice(form, page)
    } catch {
      // The old amount stays. The server compares it before anything is charged.
    }
    if (mine === latest) setButtons(form, false)
  })
}

function showPrice(form, page) {
  const focused = form.contains(document.activeElement) ? document.activeElement.name : ''
  for (const part of ['[data-terms]', '[data-pay]']) {
    const next = page.querySelector(part)
    if (next) form.querySelector(part).replaceWith(document.adoptNode(next))
  }
  if (focused) form.querySelector(`[data-terms] [name="${focused}"]`)?.focus()
}

/** A text in the language of the page, and the path of the billing page of this person or team. */
const { missingScript, billing: billingPath } =
  document.querySelector('[data-missing-script]').dataset

/** Stripe's own texts are in the language of the page, too. */
const openStripe = (key) => window.Stripe(key, { locale: document.documentElement.lang })

/** Functions that create the card form. Each returns a function that gets a token; PayPal's button sends its own. */
const entries = {
  async stripe(element) {
    const stripe = openStripe(element.dataset.key)
    const card = stripe.elements().create('card')
    card.mount(element.querySelector('[data-mount]'))
    return async () => {
      const { paymentMethod, error } = await stripe.createPaymentMethod({ type: 'card', card })
      if (error) throw error
      return paymentMethod.id
    }
  },
  braintree: (element, form, talk) => window.braintreeCard(element, form, talk),
}

const isLoaded = {
  stripe: () => Boolean(window.Stripe),
  braintree: () =>
    ['client', 'hostedFields', 'threeDSecure'].every((name) => window.braintree?.[name]),
}

for (const element of document.querySelectorAll('[data-card-entry]')) {
  const form = element.closest('form')
  const { cardEntry } = element.dataset
  const problem = element.querySelector('[data-problem]')
  const loading = element.querySelector('[data-loading]')
  const token = element.querySelector('input[name="token"]')
  const show = (error) => {
    problem.textContent = isLoaded[cardEntry]() ? error.message : missingScript
    setButtons(form, false)
  }
  const send = (value) => {
    token.value = value
    setButtons(form, true)
    // requestSubmit() has no effect while the submit event is still being handled.
    form.submit()
  }
  let ready = null
  const open = () => {
    if (ready) return
    loading.hidden = false
    ready = entries[cardEntry](element, form, { send, show })
    // After a failure the next click retries.
    ready
      .catch((error) => {
        ready = null
        show(error)
      })
      .finally(() => {
        loading.hidden = true
      })
  }
  // In a demo people choose a test card or type one: the visible one is sent.
  const isChoice = element.matches('details')
  if (isChoice) element.hidden = false
  const box = element.closest('details')
  box?.addEventListener('toggle', () => {
    if (box.open) open()
    if (!isChoice) return
    token.disabled = !box.open
    form.querySelector('select[name="token"]').disabled = box.open
  })
  if (!box || box.open) open()
  form.addEventListener('submit', async (event) => {
    // The other button leads to the provider's hosted page, which asks for the card itself.
    const leadsAway = event.submitter?.hasAttribute('formaction')
    if (token.value !== '' || token.disabled || leadsAway) return
    event.preventDefault()
    setButtons(form, true)
    problem.textContent = ''
    try {
      open()
      const askForToken = await ready
      send(await askForToken())
    } catch (error) {
      if (error.isOver) ready = null
      show(error)
      if (error.isOver) open()
    }
  })
}

for (const element of document.querySelectorAll('[data-confirm-payment]')) {
  const button = element.querySelector('button')
  element.hidden = false
  button.addEventListener('click', async () => {
    button.disabled = true
    const { key, clientSecret } = element.dataset
    const confirm = clientSecret.startsWith('seti_') ? 'confirmCardSetup' : 'confirmCardPayment'
    try {
      const { error } = await openStripe(key)[confirm](clientSecret)
      if (error) throw error
      location.assign(`${billingPath}/confirm`)
    } catch (error) {
      // Also where the provider's script did not come.
      const { message } = window.Stripe ? error : { message: missingScript }
      element.querySelector('[data-problem]').textContent = message
    }
    button.disabled = false
  })
}

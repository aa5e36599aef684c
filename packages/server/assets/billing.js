// Forms about money: sent once, and cards taken by the provider's own script.

/** A second click while the first is under way changes nothing. */
for (const form of document.querySelectorAll('form[data-once]')) {
  form.addEventListener('submit', (event) => {
    // Later, since a disabled button is not sent along.
    setTimeout(() => event.defaultPrevented || setButtons(form, true))
  })
}
// The page may come back from the browser's memory as it was left.
window.addEventListener('pageshow', (event) => {
  if (!event.persisted) return
  for (const form of document.querySelectorAll('form[data-once]')) setButtons(form, false)
})

function setButtons(form, disabled) {
  for (const button of form.querySelectorAll('button')) button.disabled = disabled
}

const NO_SCRIPT =
  'The payment provider’s script did not load. Reload the page, or try it in another browser.'

/** Each gives a function that asks the provider for a token. */
const entries = {
  async stripe(mount, { key }) {
    const stripe = window.Stripe(key)
    const card = stripe.elements().create('card')
    card.mount(mount)
    return async () => {
      const { paymentMethod, error } = await stripe.createPaymentMethod({ type: 'card', card })
      if (error) throw error
      return paymentMethod.id
    }
  },
  async braintree(mount) {
    const csrf = document.querySelector('meta[name="csrf-token"]').content
    const response = await fetch('/api/billing/client-token', {
      method: 'POST',
      headers: { accept: 'application/json', 'x-csrf-token': csrf },
    })
    if (!response.ok) throw new Error('Cards cannot be entered at the moment.')
    const { client_token: authorization } = await response.json()
    const dropin = await window.braintree.dropin.create({ authorization, container: mount })
    return async () => (await dropin.requestPaymentMethod()).nonce
  },
}

const isLoaded = (provider) => Boolean(provider === 'stripe' ? window.Stripe : window.braintree)

for (const element of document.querySelectorAll('[data-card-entry]')) {
  const form = element.closest('form')
  const { cardEntry, key } = element.dataset
  const problem = element.querySelector('[data-problem]')
  const token = element.querySelector('input[name="token"]')
  const show = (error) => {
    problem.textContent = isLoaded(cardEntry) ? error.message : NO_SCRIPT
    setButtons(form, false)
  }
  let ready = null
  const open = () => {
    ready ??= entries[cardEntry](element.querySelector('[data-mount]'), { key })
    ready.catch(show)
  }
  if (element.matches('details')) {
    // In a demo a test card is chosen, or one typed in: whichever is open is sent.
    const list = form.querySelector('select[name="token"]')
    element.hidden = false
    element.addEventListener('toggle', () => {
      if (element.open) open()
      token.disabled = !element.open
      list.disabled = element.open
    })
  } else open()
  form.addEventListener('submit', async (event) => {
    // Another button may lead to the provider's own page, which asks for the card itself.
    const leadsAway = event.submitter?.hasAttribute('formaction')
    if (token.value !== '' || token.disabled || leadsAway) return
    event.preventDefault()
    setButtons(form, true)
    problem.textContent = ''
    try {
      const askForToken = await ready
      token.value = await askForToken()
      // Not requestSubmit(), which does nothing while this event is still under way.
      form.submit()
    } catch (error) {
      show(error)
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
      const { error } = await window.Stripe(key)[confirm](clientSecret)
      if (error) throw error
      location.assign('/billing/confirm')
    } catch (error) {
      // Also where the provider's script did not come.
      const { message } = window.Stripe ? error : { message: NO_SCRIPT }
      element.querySelector('[data-problem]').textContent = message
    }
    button.disabled = false
  })
}

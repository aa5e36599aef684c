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

for (const element of document.querySelectorAll('[data-card-entry]')) {
  const form = element.closest('form')
  const problem = element.querySelector('[data-problem]')
  const token = element.querySelector('input[name="token"]')
  const show = (error) => {
    problem.textContent = error.message
    setButtons(form, false)
  }
  const { cardEntry, key } = element.dataset
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
    const { error } = await window.Stripe(key)[confirm](clientSecret)
    if (!error) location.assign('/billing/confirm')
    else element.querySelector('[data-problem]').textContent = error.message
    button.disabled = false
  })
}

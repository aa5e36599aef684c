/**
 * Part of the replacement for Stripe.js (`stripe-js.ts`): confirms intents by their client secret,
 * and shows the 3-D Secure challenge over the page.
 */
export const STRIPE_JS_INTENTS_PART = String.raw`  /** Shows the 3-D Secure page in a dialog until it is answered or cancelled. */
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
      // The frame's first page asks; the second one has the result.
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

  /** Confirms and retrieves intents by their client secret. */
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
  }`

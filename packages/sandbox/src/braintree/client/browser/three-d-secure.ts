/**
 * JavaScript that replaces `braintree.threeDSecure` in a page: it looks up the card, shows the
 * bank's challenge in an overlay, and returns a new nonce that contains the result.
 */
export const THREE_D_SECURE_SCRIPT = `
  const VERIFY_OPTIONS = [
    'nonce', 'bin', 'amount', 'onLookupComplete', 'email', 'mobilePhoneNumber', 'billingAddress', 'additionalInformation',
    'challengeRequested', 'cardAddChallengeRequested', 'collectDeviceData', 'merchantName',
  ]
  const LOOKUP_FAILURES = { 404: 'THREEDS_LOOKUP_TOKENIZED_CARD_NOT_FOUND_ERROR', 422: 'THREEDS_LOOKUP_VALIDATION_ERROR' }

  /** Shows the bank's page over the page until it has its answer: a signed text, and whether the person gave up. */
  function askBank(url, events) {
    const { origin } = new URL(url)
    const dialog = document.createElement('dialog')
    dialog.id = 'Cardinal-Modal'
    dialog.setAttribute('aria-label', '3D Secure challenge')
    Object.assign(dialog.style, { width: 'min(30rem, 94vw)', padding: '0', border: '0', borderRadius: '.5rem', overflow: 'hidden' })
    const frame = document.createElement('iframe')
    frame.id = 'Cardinal-CCA-IFrame'
    frame.title = '3D Secure challenge'
    Object.assign(frame.style, { border: '0', width: '100%', height: '20rem', display: 'block' })
    frame.src = url
    const cancel = document.createElement('button')
    cancel.type = 'button'
    cancel.textContent = 'Cancel'
    cancel.style.margin = '.75rem'
    dialog.append(frame, cancel)
    return new Promise((resolve) => {
      const giveUp = (event) => {
        event.preventDefault()
        frame.contentWindow.postMessage({ does: 'cancel' }, origin)
      }
      const hear = ({ source, data }) => {
        if (source !== frame.contentWindow) return
        window.removeEventListener('message', hear)
        dialog.close()
        dialog.remove()
        events.emit('authentication-modal-close')
        if (data.isCanceled) events.emit('customer-canceled')
        resolve(data.jwt)
      }
      window.addEventListener('message', hear)
      cancel.addEventListener('click', giveUp)
      dialog.addEventListener('cancel', giveUp)
      frame.addEventListener('load', () => events.emit('authentication-modal-render'), { once: true })
      document.body.append(dialog)
      dialog.showModal()
    })
  }

  const payloadOf = ({ paymentMethod, threeDSecureInfo }) => ({ ...paymentMethod, ...threeDSecureInfo })

  function requireOptions(options, events) {
    checkOptions('verifyCard()', options, VERIFY_OPTIONS)
    const { nonce, amount, bin, onLookupComplete } = options
    const hasAmount = ['string', 'number'].includes(typeof amount) && String(amount).trim() !== '' && !Number.isNaN(Number(amount))
    const missing =
      (!bin && 'a BIN') ||
      (!nonce && 'a nonce') ||
      (!hasAmount && 'an amount') ||
      (!onLookupComplete && !events.has('lookup-complete') && 'an onLookupComplete function')
    if (!missing) return
    const message = 'verifyCard options must include ' + missing + '.'
    throw failure('THREEDS_MISSING_VERIFY_CARD_OPTION', undefined, message)
  }

  function createThreeDSecure(client) {
    const events = createEvents()
    /** The verification that is under way. */
    let current = null

    async function lookUp({ nonce, amount, bin, additionalInformation }) {
      try {
        const data = { amount: String(amount), bin, additionalInfo: additionalInformation }
        return await client.request({ method: 'post', endpoint: 'payment_methods/' + nonce + '/three_d_secure/lookup', data })
      } catch (error) {
        const status = error.details && error.details.httpStatus
        throw failure(LOOKUP_FAILURES[status] || 'THREEDS_LOOKUP_ERROR', { originalError: error })
      }
    }

    /** Until the page says to go on, or cancels. */
    const pass = (answer, options) =>
      new Promise((resolve, reject) => {
        current = { payload: payloadOf(answer), cancel: () => reject(failure('THREEDS_VERIFY_CARD_CANCELED_BY_MERCHANT')) }
        const data = { ...answer, requiresUserAuthentication: Boolean(answer.lookup.acsUrl) }
        if (options.onLookupComplete) options.onLookupComplete(data, resolve)
        else events.emit('lookup-complete', data, resolve)
      })

    async function verify(options) {
      const answer = await lookUp(options)
      await pass(answer, options)
      if (!answer.lookup.acsUrl) return payloadOf(answer)
      const jwt = await askBank(answer.lookup.acsUrl, events)
      const { nonce } = answer.paymentMethod
      try {
        const endpoint = 'payment_methods/' + nonce + '/three_d_secure/authenticate_from_jwt'
        const data = { jwt, paymentMethodNonce: nonce }
        return payloadOf(await client.request({ method: 'post', endpoint, data }))
      } catch (error) {
        throw failure('THREEDS_JWT_AUTHENTICATION_FAILED', { originalError: error })
      }
    }

    return component('threeDSecure', {
      on: events.on,
      off: events.off,
      verifyCard: either(async (options = {}) => {
        if (current) throw failure('THREEDS_AUTHENTICATION_IN_PROGRESS')
        requireOptions(options, events)
        current = {}
        try {
          return await verify(options)
        } finally {
          current = null
        }
      }),
      cancelVerifyCard: either(async () => {
        if (!current || !current.payload) throw failure('THREEDS_NO_VERIFICATION_PAYLOAD')
        const { payload, cancel } = current
        cancel()
        return payload
      }),
    })
  }

  root.threeDSecure = {
    VERSION,
    create: either(async (options = {}) => {
      checkOptions('threeDSecure.create()', options, ['authorization', 'client', 'version'])
      const version = String(options.version || '1')
      if (version === '1') throw failure('THREEDS_UNSUPPORTED_VERSION')
      if (version === '2-inline-iframe' || version === '2-bootstrap3-modal') throw notImitated('version ' + version + ' of threeDSecure')
      if (version !== '2') {
        throw failure('THREEDS_UNRECOGNIZED_VERSION', undefined, 'Version ' + version + ' is not a recognized version.')
      }
      const client = await clientOf(options)
      if (!client.getConfiguration().gatewayConfiguration.threeDSecureEnabled) throw failure('THREEDS_NOT_ENABLED')
      return createThreeDSecure(client)
    }),
  }
`

/** JavaScript of the bank's 3-D Secure challenge page, which is shown in an iframe. */
export const BANK_PAGE_SCRIPT = `(() => {
  'use strict'
  const answer = (button, isCanceled) => parent.postMessage({ jwt: button.dataset.jwt, isCanceled }, '*')
  const giveUp = () => answer(document.querySelector('button:not(.first)'), true)
  document.addEventListener('click', ({ target }) => target.matches('button') && answer(target, false))
  window.addEventListener('message', ({ source, data }) => {
    if (source === parent && data && data.does === 'cancel') giveUp()
  })
  // The page's dialog does not hear keys that are pressed in here.
  window.addEventListener('keydown', (event) => event.key === 'Escape' && giveUp())
})()
`

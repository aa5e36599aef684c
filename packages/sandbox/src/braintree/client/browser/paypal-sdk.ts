/**
 * JavaScript that replaces `https://www.paypal.com/sdk/js` in a page: a button in an iframe, which
 * opens a window to approve or cancel a billing agreement. Like PayPal's script, it needs
 * `vault=true`, a cross-origin opener policy that allows it to open windows, and a nonce for its
 * styles.
 */
export const PAYPAL_SDK_SCRIPT = `(() => {
  'use strict'
  const { src, dataset } = document.currentScript
  const { origin, searchParams } = new URL(src)
  const OPTIONS = ['createBillingAgreement', 'onApprove', 'onCancel', 'onError', 'style']

  function Buttons(options = {}) {
    const other = Object.keys(options).find((name) => !OPTIONS.includes(name))
    if (other) throw new Error('The sandbox does not imitate ' + other + ' of paypal.Buttons().')
    if (options.createBillingAgreement && searchParams.get('vault') !== 'true') {
      throw new Error('Must pass vault=true to sdk to use createBillingAgreement')
    }
    const fail = (error) => {
      if (options.onError) options.onError(error)
      else throw error
    }
    let frame = null
    let billingToken = null
    const answer = (message) => frame.contentWindow.postMessage(message, origin)

    const READERS = {
      async clicked() {
        try {
          billingToken = await options.createBillingAgreement()
          answer({ token: billingToken })
        } catch (error) {
          answer({ failed: true })
          fail(error)
        }
      },
      async approved() {
        try {
          const data = { billingToken, payerID: 'SANDBOXPAYER1', paymentSource: 'paypal', facilitatorAccessToken: '' }
          await options.onApprove(data, {})
        } catch (error) {
          fail(error)
        }
      },
      canceled: () => options.onCancel && options.onCancel({ billingToken }, {}),
      blocked: () => fail(new Error('Unable to open popup window')),
    }

    function hear({ source, data }) {
      if (frame && source === frame.contentWindow && READERS[data.tells]) READERS[data.tells]()
    }

    return {
      isEligible: () => true,
      async render(target) {
        const place = typeof target === 'string' ? document.querySelector(target) : target
        if (!place) throw new Error('Document is ready and element ' + target + ' does not exist')
        const style = document.createElement('style')
        if (dataset.cspNonce) style.nonce = dataset.cspNonce
        style.textContent = '.paypal-buttons { display: block; width: 100%; height: 45px; border: 0; }'
        frame = document.createElement('iframe')
        frame.title = 'PayPal'
        frame.className = 'paypal-buttons'
        frame.style.colorScheme = 'light'
        frame.src = origin + '/paypal/button'
        window.addEventListener('message', hear)
        const loaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }))
        place.append(style, frame)
        await loaded
      },
      async close() {
        window.removeEventListener('message', hear)
        if (frame) frame.remove()
        frame = null
      },
    }
  }
  window.paypal = { Buttons, version: 'sandbox' }
})()
`

/**
 * JavaScript of the iframe with PayPal's button. It opens the approval window and reports the
 * result to the page.
 */
export const PAYPAL_BUTTON_SCRIPT = `(() => {
  'use strict'
  const tell = (tells) => parent.postMessage({ tells }, '*')
  let popup = null
  const end = (tells) => {
    if (!popup) return
    popup.close()
    popup = null
    tell(tells)
  }
  document.addEventListener('click', ({ target }) => {
    if (!target.matches('button')) return
    if (popup) return popup.focus()
    popup = window.open('/paypal/agreement', '', 'width=450,height=600')
    if (!popup) return tell('blocked')
    tell('clicked')
    const watch = setInterval(() => {
      if (popup && popup.closed) end('canceled')
      if (!popup) clearInterval(watch)
    }, 100)
  })
  window.addEventListener('message', ({ source, data }) => {
    if (source === parent && data.token && popup) popup.location.replace('/paypal/agreement?ba_token=' + encodeURIComponent(data.token))
    if (source === parent && data.failed && popup) {
      popup.close()
      popup = null
    }
    if (popup && source === popup) end(data)
  })
})()
`

/** JavaScript of the window in which the payer approves a PayPal billing agreement. */
export const PAYPAL_WINDOW_SCRIPT = `(() => {
  'use strict'
  document.addEventListener('click', ({ target }) => {
    if (target.matches('button') && opener) opener.postMessage(target.value, location.origin)
  })
})()
`

/**
 * JavaScript of the iframe of a Stripe.js element. It validates the input, tells the page whether
 * the input is complete, and exchanges the card for a token. The card number is sent only to the
 * sandbox.
 */
export const ELEMENT_SCRIPT = String.raw`(() => {
  'use strict'
  const main = document.querySelector('main')
  const type = main.dataset.type
  const settings = JSON.parse(decodeURIComponent(location.hash.slice(1)) || '{}')
  document.documentElement.style.colorScheme = settings.scheme || 'light'
  const inputs = {}
  for (const input of document.querySelectorAll('input')) inputs[input.dataset.field] = input
  if (settings.hidePostalCode && inputs['postal-code']) {
    inputs['postal-code'].closest('label').remove()
    delete inputs['postal-code']
  }
  if (settings.placeholder && Object.keys(inputs).length === 1) Object.values(inputs)[0].placeholder = settings.placeholder

  const tell = (name, event) => parent.postMessage({ name, event }, '*')
  const digits = (name) => (inputs[name] ? inputs[name].value.replace(/\D/g, '') : '')
  const brandOf = (number) => {
    const brands = { visa: /^4/, mastercard: /^(?:5[1-5]|2[2-7])/, amex: /^3[47]/, discover: /^6(?:011|5)/, diners: /^3[068]/, jcb: /^35/, unionpay: /^62/ }
    return Object.keys(brands).find((brand) => brands[brand].test(number)) || 'unknown'
  }
  const isPossible = (number) => {
    let sum = 0
    ;[...number].reverse().forEach((digit, at) => {
      const value = Number(digit) * (at % 2 ? 2 : 1)
      sum += value > 9 ? value - 9 : value
    })
    return sum % 10 === 0
  }
  const problem = (code, message) => ({ type: 'validation_error', code, message })

  /** Validates each field. An empty field is an error only on submission. */
  const CHECKS = {
    'cc-number': (number) => {
      const length = { amex: 15, diners: 14 }[brandOf(number)] || 16
      if (number.length < length) return problem('incomplete_number', 'Your card number is incomplete.')
      return isPossible(number) ? null : problem('invalid_number', 'Your card number is invalid.')
    },
    'cc-exp': (date) => {
      if (date.length < 4) return problem('incomplete_expiry', "Your card's expiration date is incomplete.")
      const month = Number(date.slice(0, 2))
      return month >= 1 && month <= 12 ? null : problem('invalid_expiry_month', "Your card's expiration date is invalid.")
    },
    'cc-csc': (cvc) => (cvc.length < 3 ? problem('incomplete_cvc', "Your card's security code is incomplete.") : null),
    'postal-code': () => null,
  }
  const problems = () => {
    const found = Object.keys(inputs).map((name) => [name, CHECKS[name](digits(name))])
    return found.filter(([, error]) => error)
  }
  const isEmpty = () => Object.values(inputs).every((input) => input.value === '')

  /** Exposes this frame's fields to the other frames of the same card, which share its origin. */
  window.sandboxFields = {
    group: settings.group,
    values: () => Object.fromEntries(Object.keys(inputs).map((name) => [name, name === 'postal-code' ? inputs[name].value.trim() : digits(name)])),
    problems,
  }
  function siblings() {
    const found = []
    for (let at = 0; at < parent.frames.length; at++) {
      try {
        const fields = parent.frames[at].sandboxFields
        if (fields && fields.group === settings.group) found.push(fields)
      } catch {
        // A frame of another origin.
      }
    }
    return found
  }
  const firstProblem = () => {
    const found = new Map(siblings().flatMap((fields) => fields.problems()))
    return ['cc-number', 'cc-exp', 'cc-csc'].map((name) => found.get(name)).find(Boolean) || null
  }
  const mark = (all) => {
    const wrong = new Map(problems())
    for (const [name, input] of Object.entries(inputs)) {
      const isWrong = wrong.has(name) && (all || (input.value !== '' && input !== document.activeElement))
      input.setAttribute('aria-invalid', String(isWrong))
    }
  }

  async function tokenize(given) {
    mark(true)
    const error = firstProblem()
    if (error) return { error }
    const typed = Object.assign({}, ...siblings().map((fields) => fields.values()))
    const form = new URLSearchParams({ key: settings.key })
    const card = {
      number: typed['cc-number'],
      exp_month: typed['cc-exp'].slice(0, 2),
      exp_year: typed['cc-exp'].slice(2),
      cvc: typed['cc-csc'],
      address_zip: typed['postal-code'],
      ...given,
    }
    for (const [name, value] of Object.entries(card)) {
      if (typeof value === 'string' && value !== '') form.set('card[' + name + ']', value)
    }
    try {
      const response = await fetch('/v1/tokens', { method: 'POST', body: form })
      const answer = await response.json()
      return response.ok ? { token: answer } : { error: answer.error }
    } catch {
      return { error: { type: 'api_connection_error', message: 'We could not reach the sandbox.' } }
    }
  }

  const change = () => {
    const wrong = problems()
    const shown = wrong.find(([name, error]) => inputs[name].value !== '' && error.code.startsWith('invalid'))
    mark(false)
    const event = { empty: isEmpty(), complete: wrong.length === 0, error: shown ? shown[1] : undefined }
    if (type === 'payment') return tell('change', { ...event, collapsed: false, value: { type: 'card' } })
    const brand = inputs['cc-number'] ? { brand: brandOf(digits('cc-number')) } : {}
    const zip = inputs['postal-code']
    tell('change', { ...event, ...brand, ...(zip ? { value: { postalCode: zip.value } } : {}) })
  }

  const DOES = {
    tokenize,
    validate: () => {
      mark(true)
      return { error: firstProblem() }
    },
    focus: () => Object.values(inputs)[0].focus(),
    blur: () => document.activeElement && document.activeElement.blur(),
    clear: () => {
      for (const input of Object.values(inputs)) input.value = ''
      change()
    },
    disable: (disabled) => {
      for (const input of Object.values(inputs)) input.disabled = disabled
    },
  }
  if (settings.disabled) DOES.disable(true)

  window.addEventListener('message', async ({ source, data }) => {
    if (source !== parent || !DOES[data.does]) return
    const answer = await DOES[data.does](data.given)
    parent.postMessage({ answers: data.id, answer }, '*')
  })
  main.addEventListener('input', change)
  main.addEventListener('focusin', () => tell('focus'))
  main.addEventListener('focusout', () => {
    mark(false)
    tell('blur')
  })
  main.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') tell('enter')
    if (event.key === 'Escape') tell('escape')
  })
  new ResizeObserver(() => tell('height', Math.ceil(main.getBoundingClientRect().height))).observe(main)
  tell('ready')
})()
`

/**
 * JavaScript functions that tell whether the text of a card field is valid or may still become
 * valid, and which card types a number can have.
 */
export const CARD_STATE_SCRIPT = String.raw`
  const CARD_TYPES = [
    { type: 'visa', niceType: 'Visa', ranges: [['4', '4']], lengths: [13, 16, 19], code: ['CVV', 3] },
    { type: 'master-card', niceType: 'MasterCard', ranges: [['51', '55'], ['2221', '2720']], lengths: [16], code: ['CVC', 3] },
    { type: 'american-express', niceType: 'American Express', ranges: [['34', '34'], ['37', '37']], lengths: [15], code: ['CID', 4] },
    { type: 'diners-club', niceType: 'Diners Club', ranges: [['300', '305'], ['36', '36'], ['38', '39']], lengths: [14, 16, 19], code: ['CVV', 3] },
    { type: 'discover', niceType: 'Discover', ranges: [['6011', '6011'], ['644', '649'], ['65', '65']], lengths: [16, 19], code: ['CID', 3] },
    { type: 'jcb', niceType: 'JCB', ranges: [['2131', '2131'], ['1800', '1800'], ['3528', '3589']], lengths: [16, 17, 18, 19], code: ['CVV', 3] },
  ]

  const digitsOf = (text) => text.replaceAll(/[ -]/g, '')

  function possibleCards(typed) {
    const number = digitsOf(typed)
    if (!/^\d*$/.test(number)) return []
    return CARD_TYPES.filter(({ ranges }) =>
      ranges.some(([low, high]) => {
        const length = Math.min(low.length, number.length)
        const start = number.slice(0, length)
        return start >= low.slice(0, length) && start <= high.slice(0, length)
      }),
    )
  }

  /** The kinds of card as pages are told. */
  const describeCards = (cards) =>
    cards.map(({ type, niceType, code: [name, size] }) => ({ type, niceType, code: { name, size } }))

  /** The check digit that ends every card number. */
  function hasCheckDigit(number) {
    const sum = [...number].reverse().reduce((total, digit, at) => {
      const value = Number(digit) * (at % 2 === 0 ? 1 : 2)
      return total + (value > 9 ? value - 9 : value)
    }, 0)
    return sum % 10 === 0
  }

  const byForm = (whole, part) => (text) => ({
    isValid: whole.test(text),
    isPotentiallyValid: part.test(text),
  })

  /** Month and year of '12/30', '12 / 2030' or '1230'; null for any other text. */
  function parseDate(text) {
    const [, month, year] = /^(0?[1-9]|1[0-2]) ?\/? ?(\d{2}|20\d{2})$/.exec(text) || []
    if (!year) return null
    return { month: month.padStart(2, '0'), year: year.length === 2 ? '20' + year : year }
  }

  /** Whether the date is to come, and no more than 19 years away, by the browser's clock. */
  function isToCome({ month, year }) {
    const now = new Date()
    const left = (Number(year) - now.getFullYear()) * 12 + Number(month) - now.getMonth() - 1
    return left >= 0 && Number(year) <= now.getFullYear() + 19
  }

  const VALIDITY = {
    number(text) {
      const number = digitsOf(text)
      const cards = possibleCards(text)
      const lengths = cards.flatMap((card) => card.lengths)
      const isValid = cards.length === 1 && lengths.includes(number.length) && hasCheckDigit(number)
      const canGrow = number.length < Math.max(0, ...lengths)
      return { isValid, isPotentiallyValid: isValid || (cards.length > 0 && canGrow) }
    },
    expirationDate(text) {
      const date = parseDate(text)
      const isValid = date !== null && isToCome(date)
      const isBegun = /^(?:[01]?|(?:0?[1-9]|1[0-2]) ?\/? ?(?:\d?|20\d?))$/.test(text)
      return { isValid, isPotentiallyValid: isValid || isBegun }
    },
    expirationMonth: byForm(/^(?:0?[1-9]|1[0-2])$/, /^(?:[01]?|0?[1-9]|1[0-2])$/),
    expirationYear: byForm(/^(?:\d{2}|20\d{2})$/, /^(?:\d{0,2}|20\d{0,2})$/),
    cvv(text, cards) {
      const sizes = cards.length === 1 ? [cards[0].code[1]] : [3, 4]
      const isDigits = /^\d*$/.test(text)
      return {
        isValid: isDigits && sizes.includes(text.length),
        isPotentiallyValid: isDigits && text.length <= Math.max(...sizes),
      }
    },
    postalCode: byForm(/^[A-Za-z0-9 -]{3,}$/, /^[A-Za-z0-9 -]*$/),
    cardholderName: byForm(/^.{1,255}$/, /^.{0,255}$/),
  }
`

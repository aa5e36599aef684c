// node --import wrong-clock.mjs: runs a process whose wall clock is CLOCK_AHEAD milliseconds ahead.
// Its monotonic clock is correct.
const ahead = Number(process.env.CLOCK_AHEAD ?? 0)
const RightDate = Date

globalThis.Date = class WrongDate extends RightDate {
  constructor(...given) {
    if (given.length === 0) super(RightDate.now() + ahead)
    else super(...given)
  }
  static now() {
    return RightDate.now() + ahead
  }
  static [Symbol.hasInstance](value) {
    return value instanceof RightDate
  }
}

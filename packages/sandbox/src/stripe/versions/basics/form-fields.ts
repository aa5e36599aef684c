import { type FormObject, isForm } from '../../wire/form.ts'

/** The entries of a list in a form, such as `phases[0]`. */
export function entriesOf(form: FormObject, list: string): FormObject[] {
  const entries = form[list]
  return isForm(entries) ? Object.values(entries).filter(isForm) : []
}

/** A part of a form, such as `subscription_details`, made when it is not there. */
export function partOf(form: FormObject, name: string): FormObject {
  const part = form[name]
  if (isForm(part)) return part
  // Without a prototype, as a parsed form: any name may come.
  const made = Object.create(null) as FormObject
  form[name] = made
  return made
}

/** A parameter under its new name. One that is sent under both is refused by the contract as it was. */
export function renameField(form: FormObject, from: string, to: string): void {
  const value = form[from]
  if (value === undefined || form[to] !== undefined) return
  form[to] = value
  delete form[from]
}

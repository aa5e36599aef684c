import { type FormObject, isForm } from '../../wire/form.ts'

/**
 * Returns the entries of a list in a request's form, such as `phases[0]` and `phases[1]` for
 * `phases`.
 */
export function listFormEntries(form: FormObject, list: string): FormObject[] {
  const entries = form[list]
  return isForm(entries) ? Object.values(entries).filter(isForm) : []
}

/**
 * Returns an object in a request's form, such as `subscription_details`. Creates the object if it
 * does not exist.
 */
export function getFormPart(form: FormObject, name: string): FormObject {
  const part = form[name]
  if (isForm(part)) return part
  // Without a prototype, like a parsed form, because keys are arbitrary.
  const made = Object.create(null) as FormObject
  form[name] = made
  return made
}

/**
 * Renames a parameter. If it is sent under both names, the old name stays and is rejected later,
 * because the generated contract does not have it.
 */
export function renameField(form: FormObject, from: string, to: string): void {
  const value = form[from]
  if (value === undefined || form[to] !== undefined) return
  form[to] = value
  delete form[from]
}

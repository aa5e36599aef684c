/**
 * A value in a parsed form, before it is converted to its type. Lists are objects with the indexes
 * as keys.
 */
export type FormValue = string | FormObject
export interface FormObject {
  [key: string]: FormValue
}

export function isForm(value: FormValue | undefined): value is FormObject {
  return typeof value === 'object'
}

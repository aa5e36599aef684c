import type { Words } from './words.ts'

/** Spanish. */
export const es: Words = {
  invoice: {
    invoice: 'Factura',
    receipt: 'Recibo',
    number: 'Número',
    date: 'Fecha',
    billedTo: 'Facturado a',
    description: 'Descripción',
    period: 'Periodo',
    amount: 'Importe',
    subtotal: 'Subtotal',
    discount: 'Descuento',
    tax: 'Impuestos',
    included: 'incluidos',
    total: 'Total',
    paidFromCredit: 'Pagado con saldo',
    balanceFromBefore: 'Saldo anterior',
    amountPaid: 'Importe pagado',
    amountDue: 'Importe a pagar',
    page: 'página {page} de {pages}',
    creditNote: 'Nota de crédito',
    forInvoice: 'De la factura',
    refunded: 'Reembolsado',
    toBalance: 'Abonado a su saldo',
    outside: 'Liquidado de otra forma',
    taxId: 'Número fiscal',
    reverseCharge: 'Inversión del sujeto pasivo',
  },
  mail: {
    greeting: 'Hola, {name}:',
    hello: 'Hola:',
    closing: 'Un saludo',
    receipt: {
      subject: 'Su recibo de {vendor}',
      text: 'Hemos recibido su pago de {amount} por {product}. Gracias.',
    },
    payment_failed: {
      subject: 'Su pago a {vendor} ha fallado',
      text: 'No hemos podido cobrar {amount} por {product}.',
    },
    action_required: {
      subject: 'Confirme su pago a {vendor}',
      text: 'Su banco le pide que confirme el pago de {amount} por {product}. Hasta entonces no estará completo.',
    },
    trial_ending: {
      subject: 'Su prueba de {product} termina el {date}',
      text: 'Su prueba de {product} termina el {date}.',
    },
    card_expiring: {
      subject: 'Su tarjeta está a punto de caducar',
      text: 'Su tarjeta {card} caduca a finales de {month}. Indique otra antes para que sus pagos por {product} continúen.',
    },
    refunded: {
      subject: 'Su reembolso de {vendor}',
      text: 'Le hemos devuelto {amount}. Pueden pasar algunos días hasta que lo vea en su cuenta.',
    },
    triedAgain: 'Lo intentaremos de nuevo el {date}. Compruebe antes su método de pago.',
    lastAttempt: 'Indique otro método de pago para que su suscripción pueda continuar.',
    subscriptionFollows: 'Si no la cancela antes, su suscripción continuará y se cobrará.',
    noSubscription: 'Si quiere seguir usándolo, suscríbase.',
    changeMethod: 'Cambiar el método de pago',
    confirm: 'Confirmar el pago',
    manage: 'Gestionar la suscripción',
  },
}

/** @jsxImportSource @kitajs/html */
interface Props {
  /** Options come from `<address>/options`, and the answer goes to `address`. */
  readonly address: string;
  /** A safe path. */
  readonly next: string;
  readonly label: string;
}

/** Shown by the script where the browser knows passkeys. */
export function PasskeyButton({ address, next, label }: Props) {
  return (
    <>
      <button
        type="button"
        class="quiet"
        hidden
        data-passkey={address}
        data-kind="get"
        data-next={next}
        safe
      >
        {label}
      </button>
      <p class="problem" role="alert" hidden></p>
    </>
  );
}

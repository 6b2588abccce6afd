import { useEffect, useState } from "preact/hooks";
import { useSession } from "../state/context";

const OURS = "/api/";
/** Images of fewer pixels are enlarged as squares, because a blur would hide what they show. */
const TINY = 64;

/** An image by its address. One of our server is fetched with the token, which an address could not carry. */
export function Picture({ image, name }: { image: string; name: string }) {
  const session = useSession();
  const [address, setAddress] = useState(image.startsWith(OURS) ? "" : image);
  const [missing, setMissing] = useState(false);
  const [tiny, setTiny] = useState(false);
  useEffect(() => {
    if (!image.startsWith(OURS)) return;
    let current = true;
    let made = "";
    session.transport.bytes(image.slice(OURS.length)).then(
      (blob) => {
        made = URL.createObjectURL(blob);
        if (current) setAddress(made);
        else URL.revokeObjectURL(made);
      },
      () => current && setMissing(true),
    );
    return () => {
      current = false;
      URL.revokeObjectURL(made);
    };
  }, [image]);
  if (missing) return <span class="missing">The image of <bdi>{name}</bdi> is missing.</span>;
  if (address === "") return <span class="picture empty" />;
  return (
    <img
      class="picture" src={address} alt={`Image of ${name}`} draggable={false} referrerpolicy="no-referrer" data-tiny={tiny}
      onLoad={(event) => setTiny(event.currentTarget.naturalWidth < TINY)} onError={() => setMissing(true)}
    />
  );
}
